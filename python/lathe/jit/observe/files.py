"""Where code is that is not the user's."""

import os

CAPTURE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
PACKAGE = os.path.dirname(os.path.dirname(CAPTURE)) + os.sep
STANDARD = os.path.dirname(os.__file__) + os.sep


def is_standard(file):
    """A file of Python's own."""
    return file.startswith((STANDARD, "<frozen")) and "site-packages" not in file
