"""Any program over factors: an augmented Lagrangian."""
