"""What is known of a stream of batches, and every measure of it."""
