"""Shows pages of the site to headless Chromium: a picture of each, and the text that it drew.

Debian's package `chromium`; FileNotFoundError with the command to install it where it is missing.
"""

import shutil
import subprocess
import tempfile
from pathlib import Path

PAGES = ("index.html", "docs/tutorial.html", "docs/reference/ops-math.html")
SIZE = (1280, 1600)


def chromium():
    found = shutil.which("chromium")
    if not found:
        raise FileNotFoundError("chromium is not installed: ./dev docs --render brings it")
    return found


def run(url, *arguments):
    """Chromium's standard output; RuntimeError with what it said if it failed."""
    with tempfile.TemporaryDirectory() as profile:
        command = [chromium(), "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
        command += [f"--user-data-dir={profile}", f"--window-size={SIZE[0]},{SIZE[1]}"]
        command += ["--virtual-time-budget=10000", *arguments, url]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    if done.returncode:
        raise RuntimeError(f"chromium could not show {url}:\n{done.stderr}")
    return done.stdout


def text_of(url):
    """The page as it stands after its scripts have run, as HTML."""
    return run(url, "--dump-dom")


def render(html: Path, pictures: Path):
    """Yields (page, picture) for each page of PAGES."""
    pictures.mkdir(parents=True, exist_ok=True)
    for page in PAGES:
        picture = pictures / (page.replace("/", "-").removesuffix(".html") + ".png")
        picture.unlink(missing_ok=True)
        run((html / page).resolve().as_uri(), f"--screenshot={picture}")
        yield page, picture
