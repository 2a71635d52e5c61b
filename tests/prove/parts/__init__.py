"""The proofs: one package of lines each, and the driver that they share."""
