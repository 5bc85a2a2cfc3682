"""Tables in files: read strictly, as text first and as numbers on request; and written."""
