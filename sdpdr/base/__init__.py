"""What everything else stands on: errors, arrays and checks of data, files, progress."""
