"""What is known of a program from the last time it was solved, put to use."""
