"""What the tests need to know of the build that they run against."""

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("LATHE_BUILD_DIR", ROOT / "build/release"))
LIBRARY = BUILD / "lib"

# `./dev test` preloads a sanitizer's library into Python; no flag of Lathe says so.
SANITIZED = bool(os.environ.get("LD_PRELOAD"))


def copy_of_lathe(folder, leave_out=(), broken=(), instead=()):
    """A package like the one that runs, of links; without some plug-ins, or with damaged ones, or
    with another plug-in in the place of one."""
    import lathe as lt

    package = folder / "lathe"
    package.mkdir(parents=True)
    for path in Path(lt.__file__).parent.iterdir():
        if path.name in broken:
            (package / path.name).write_bytes(b"no shared object")
        elif path.name in instead:
            (package / path.name).symlink_to(path.parent / instead[path.name])
        elif path.name not in leave_out:
            (package / path.name).symlink_to(path.resolve() if "_lathe." in path.name else path)
    return folder
