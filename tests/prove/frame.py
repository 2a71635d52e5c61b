"""Shows every line of what the frame must show: PASS or FAIL, the figure and the commit.

    ./dev prove frame [--only 3,7] [--quick] [--resume] [--json FILE]

The whole takes about 45 minutes on two cores (parts/driver.py says what the options do).
"""

from parts import driver, frame

if __name__ == "__main__":
    driver.main(frame.LINES, __doc__)
