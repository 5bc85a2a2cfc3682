"""Descent over factors by trust regions, for equations whose factorizations would fill in."""
