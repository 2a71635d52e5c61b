"""oneDNN, a vendor of kernels."""

from .. import _lathe

enabled = True  # kept; the flag `disabled` switches vendors off


def is_available():
    """Whether oneDNN was found when Lathe was built, and is not disabled."""
    lines = _lathe.table("mm").splitlines()  # not an op: a row of the table
    return any("onednn" in line and ": " not in line for line in lines)  # ": " and why not
