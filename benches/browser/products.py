"""Times products of square matrices by OpenBLAS with AVX2, on one thread.

    python benches/browser/products.py N …

Prints a JSON object with the milliseconds of each size, the median of 15 rounds. AVX2 is what most processors have;
WebAssembly's vectors are half as wide.
"""

import json
import os
import statistics
import sys
import time

os.environ |= {"OPENBLAS_CORETYPE": "Haswell", "OPENBLAS_NUM_THREADS": "1"}

try:
    import numpy as np
except ImportError as error:
    sys.exit(f"{error}; pip install numpy==2.4.6")

N_ROUNDS = 15
# Products timed together, so that the clock counts little.
ROUND_FLOATING_POINT_OPERATIONS = 1e9


def millis(n):
    """Milliseconds of one product of n x n by n x n numbers."""
    rng = np.random.default_rng(n)
    left, right = (rng.standard_normal((n, n), dtype=np.float32) for _ in range(2))
    product = left @ right
    n_times = max(1, round(ROUND_FLOATING_POINT_OPERATIONS / (2 * n**3)))
    rounds = []
    for _ in range(N_ROUNDS):
        start = time.perf_counter()
        for _ in range(n_times):
            np.matmul(left, right, out=product)
        rounds.append((time.perf_counter() - start) * 1000 / n_times)
    return statistics.median(rounds)


if __name__ == "__main__":
    if "openblas" not in str(np.show_config(mode="dicts")).lower():
        sys.exit("numpy: expected one that was built with OpenBLAS, as that of PyPI")
    print(json.dumps({n: millis(int(n)) for n in sys.argv[1:]}))
