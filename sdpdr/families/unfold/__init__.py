"""Unfolding: embeddings that keep lengths and differ in what they maximise."""
