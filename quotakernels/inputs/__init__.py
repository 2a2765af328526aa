"""What callers pass becomes checked arrays, or an error that names the argument."""
