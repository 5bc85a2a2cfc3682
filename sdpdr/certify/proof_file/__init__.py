"""Proof files: what proves an answer, written for a checker that stands alone.

The page "Proof files" says what they hold, and `sdpdr.certify.check_proof` checks them.
"""

from sdpdr.certify.proof_file.write import WrittenProof, hash_of, write_proof

__all__ = ["WrittenProof", "hash_of", "write_proof"]
