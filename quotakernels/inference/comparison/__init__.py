"""Which of several models is better."""
