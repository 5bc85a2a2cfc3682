"""Processes for solvers: workers that are isolated, how they end, and what they leave."""
