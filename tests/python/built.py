"""What the tests need to know of the build that they run against."""

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("LATHE_BUILD_DIR", ROOT / "build/release"))
LIBRARY = BUILD / "lib"

# `./dev test` preloads a sanitizer's library into Python; no flag of Lathe says so.
SANITIZED = bool(os.environ.get("LD_PRELOAD"))
