"""Errors, arrays and checks of data, deadlines, files and progress, for all other packages."""
