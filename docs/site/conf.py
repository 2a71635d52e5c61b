"""Settings of Sphinx for the site; docs/build.py says what goes in."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

project = "Lathe"
release = re.search(r"VERSION (\d+\.\d+\.\d+)", (ROOT / "CMakeLists.txt").read_text()).group(1)
extensions = ["myst_parser"]
myst_heading_anchors = 3
html_theme = "furo"
html_title = f"Lathe {release}"
html_copy_source = False
html_show_sourcelink = False
html_show_copyright = False
pygments_style = "tango"
