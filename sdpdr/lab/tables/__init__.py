"""Tables of numbers in files, read as people have them, and written."""
