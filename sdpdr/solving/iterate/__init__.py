"""Drivers that solve a sequence of programs: convex iteration towards a low rank."""
