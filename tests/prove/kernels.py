"""Shows every line of what kernels must show: PASS or FAIL, the figure and the commit.

    ./dev prove kernels [--full] [--only 2,3] [--resume] [--json FILE]

Without `--full` the short form of what takes long, about an hour. Parts that compare with PyTorch
need the environments of tests/suites/README.md and of ./dev bench. A part whose subject is not
built says so and has failed.
"""

from parts import driver, kernels

if __name__ == "__main__":
    driver.main(kernels.LINES, __doc__, short=True)
