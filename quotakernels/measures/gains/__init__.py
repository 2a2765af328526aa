"""What selected and rejected examples bring, each its own amount."""
