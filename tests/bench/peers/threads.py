"""How many threads a library may use: run.py says so to all in the same way."""

import os

VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "LATHE_THREADS")
COUNT = int(os.environ.get(VARIABLES[0], "1"))
