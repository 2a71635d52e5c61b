"""Shows every line of what the spine must show: PASS or FAIL, the figure and the commit.

    ./dev prove spine [--only 3,7] [--quick] [--resume] [--json FILE]

The whole takes more than two hours, `--quick` less than 15 minutes (parts/driver.py says how).
"""

from parts import driver, spine

if __name__ == "__main__":
    driver.main(spine.LINES, __doc__)
