"""Shows every line of what breadth must show: PASS or FAIL, the figure and the commit.

    ./dev prove breadth [--full] [--only 3,7] [--resume] [--json FILE]

Without `--full` the short form of what takes long, less than an hour. The suites of others need an
environment of their own (tests/suites/README.md); a part whose environment is missing has failed.
"""

from parts import breadth, driver

if __name__ == "__main__":
    driver.main(breadth.LINES, __doc__, short=True)
