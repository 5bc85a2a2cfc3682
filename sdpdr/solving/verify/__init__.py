"""Proofs of answers that were found elsewhere; `sdpdr.verify` is the door."""
