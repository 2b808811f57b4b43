"""Processes with many threads ask the same models, while another process saves over the files of these models.

    python share_models.py DIRECTORY PROCESSES THREADS ROUNDS

PROCESSES load a model from its file in every round of every thread, and as many have all models in memory since they
were forked. Printed as JSON: how many models were asked, how many of them gave another answer, and how
often one was saved.
"""

import json
import sys
from multiprocessing import get_context
from pathlib import Path

from hietan import load, save
from support.families import CLASSIFIERS
from support.shared_models import answers, at_once, file_of, fresh_model


def ask(models, expected, n_threads, rounds, results):
    """Ask a model in each round of each thread. `models` is a dictionary, or the directory to load them from."""

    def work(k):
        changed = 0
        for number in range(rounds):  # the threads begin with different models
            make = CLASSIFIERS[(number + k) % len(CLASSIFIERS)]
            model = load(file_of(make, models)) if isinstance(models, Path) else models[make]
            changed += answers(model) != expected[make]
        return rounds, changed

    results.put([sum(counts) for counts in zip(*at_once(n_threads, work), strict=True)])


def save_until(stop, models, directory, results):
    """Save all models again and again: at least once, and then until the others are done."""
    n_saved = 0
    while not n_saved or not stop.is_set():
        for make, model in models.items():
            save(model, file_of(make, directory))
            n_saved += 1
    results.put(n_saved)


def main(directory, n_processes, n_threads, rounds):
    directory, context = Path(directory), get_context("fork")
    expected = {make: answers(fresh_model(make)) for make in CLASSIFIERS}
    models = {make: fresh_model(make) for make in CLASSIFIERS}
    for make, model in models.items():
        save(model, file_of(make, directory))
    results, saves, stop = context.SimpleQueue(), context.SimpleQueue(), context.Event()
    saver = context.Process(target=save_until, args=(stop, models, directory, saves))
    asking = [
        context.Process(target=ask, args=(source, expected, int(n_threads), int(rounds), results))
        for source in [directory, models] * int(n_processes)
    ]
    for process in [saver, *asking]:
        process.start()
    for process in asking:
        process.join()
    stop.set()
    saver.join()
    failed = [process.exitcode for process in [saver, *asking] if process.exitcode]
    if failed:
        sys.exit(f"processes ended with the codes {failed}")
    asked, changed = (sum(counts) for counts in zip(*(results.get() for _ in asking), strict=True))
    for make in CLASSIFIERS:
        changed += answers(load(file_of(make, directory))) != expected[make]
    print(json.dumps({"answers": asked, "changed": changed, "saved": saves.get()}))


if __name__ == "__main__":
    main(*sys.argv[1:])
