"""Shows every line of what capture must show: PASS or FAIL, the figure and the commit.

    ./dev prove capture [--full] [--only 2,3] [--resume] [--json FILE]

Without `--full` the short form of what takes long, less than an hour. Parts that compare with
PyTorch need the environment of tests/suites/README.md. A part whose subject is not built says so
and has failed.
"""

from parts import capture, driver

if __name__ == "__main__":
    driver.main(capture.LINES, __doc__, short=True)
