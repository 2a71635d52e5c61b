"""OpenMP, which Lathe does not use."""


def is_available():
    """False."""
    return False
