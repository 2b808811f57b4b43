"""Run as a program: the handler of a signal that arrives while a ranking is being sorted reads the same ranking.

Prints whether both found the same edges, which are those of a ranking that nobody disturbed.
"""

import signal

import numpy as np

from hietan import _kernel

D, FIRST = 2500, 1000


def main() -> None:
    keys = np.random.default_rng(0).integers(0, 2**60, D * (D - 1) // 2)
    start, none = np.zeros(D + 1, np.int32), np.zeros(0, np.int32)
    relations = _kernel.Relations(start, none, start, none)
    expected = _kernel.Ranking(keys, relations).edges(FIRST)
    found = []
    while not found:  # a signal may be late
        ranking = _kernel.Ranking(keys, relations, block=len(keys))

        def read(number, frame, ranking=ranking):
            if ranking.n_sorted == 0:
                found.append(ranking.edges(FIRST))

        signal.signal(signal.SIGALRM, read)
        signal.setitimer(signal.ITIMER_REAL, 0.02)
        edges = ranking.edges(FIRST)
        signal.setitimer(signal.ITIMER_REAL, 0)
    print(all(np.array_equal(some, expected) for some in (*found, edges)) and ranking.n_sorted == len(keys))


if __name__ == "__main__":
    main()
