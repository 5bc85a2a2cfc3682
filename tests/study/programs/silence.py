"""A program that does nothing, and is content."""
