"""Line 7: rows of the seed documents."""

from .. import seed_rows

LINE = seed_rows.line_of(7, "capture", {"TR": 14, "SC": 19, "DY": 10, "EX": 21, "IR": 22})
