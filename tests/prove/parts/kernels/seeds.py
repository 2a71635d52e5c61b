"""Line 9: rows of the seed documents."""

from .. import seed_rows

LINE = seed_rows.line_of(9, "kernels", {"RW": 34, "VL": 14, "CG": 22, "PF": 22})
