"""Unfolding: embeddings that preserve lengths and differ in their objectives."""
