"""Our readers compared with splitting the same lines in plain Python, and with pronto where it is installed.

Each ratio compares two CPU times from one run in which the two take turns. Peak memory is that of a new process that
reads the file once, beyond what it needs to import the library.

    HIETAN_DATA=... python benchmarks/bench_readers.py
"""

import gzip
import importlib.util
import io
import os
import subprocess
import sys
import time
import warnings
import zipfile
from pathlib import Path

AT_MOST_TIMES, AT_MOST_MB = 3.0, 100.0
REPEATS = 5
FILES = {
    "OBO 2014, zip": ("read_obo", "ageing-2014/gene_ontology_ext_13062014.obo.zip", ":"),
    "OBO 2019, gzip": ("read_obo", "go-2019/GeneOntology_2019.01.29.obo.gz", ":"),
    "GAF worm, gzip": ("read_gaf", "go-2019/GO.goa_worm_2019.01.29.gz", "\t"),
    "GAF fly, gzip": ("read_gaf", "go-2019/GO.goa_fly_2019.01.29.gz", "\t"),
}
FOR_PRONTO = FILES["OBO 2019, gzip"][1]


def read_and_split(path, separator):
    """The least that any reader has to do."""
    if path.endswith(".zip"):
        with zipfile.ZipFile(path) as archive, archive.open(archive.namelist()[0]) as member:
            return sum(len(line.split(separator)) for line in io.TextIOWrapper(member, encoding="utf-8"))
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return sum(len(line.split(separator)) for line in file)


def read(reader, path):
    """Read with one of our readers, or with pronto; annotations are consumed one at a time and not kept."""
    if reader == "pronto":
        import pronto

        warnings.simplefilter("ignore")
        return pronto.Ontology(path)
    from hietan import datasets

    found = getattr(datasets, reader)(path)
    return found if reader == "read_obo" else sum(1 for _ in found)


def seconds(function, *arguments):
    """The CPU time of a call."""
    start = time.process_time()
    function(*arguments)
    return time.process_time() - start


def in_new_process(reader, path):
    """CPU seconds, peak MB beyond the import, and total peak MB of a process that reads the file once."""
    command = [sys.executable, __file__, reader, path]
    answer = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    taken, before, after = map(float, answer.split())
    return taken, after - before, after


def read_once(reader, path):
    """What the new process does."""
    if reader == "pronto":
        import pronto  # noqa: F401
    else:
        import hietan.datasets  # noqa: F401

    before = high_water_mb()
    taken = seconds(read, reader, path)
    print(taken, before, high_water_mb())


def high_water_mb():
    """The peak memory of this process alone: getrusage would start with the peak of the process that started it."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def main():
    home = Path(os.environ["HIETAN_DATA"])
    print(f"{'':16}{'plain s':>9}{'ours s':>9}{'ratio':>7}{'peak MB':>9}{'with import':>13}")
    good = True
    for name, (reader, place, separator) in FILES.items():
        path = str(home / place)
        pairs = [
            (seconds(read_and_split, path, separator), seconds(read, reader, path)) for _ in range(REPEATS)
        ]
        plain, ours = (min(times) for times in zip(*pairs, strict=True))
        _, more, in_all = in_new_process(reader, path)
        print(f"{name:16}{plain:9.2f}{ours:9.2f}{ours / plain:7.2f}{more:9.0f}{in_all:13.0f}")
        good &= ours <= AT_MOST_TIMES * plain and more <= AT_MOST_MB
    print("within bounds" if good else f"NOT within {AT_MOST_TIMES:g} times and {AT_MOST_MB:g} MB")
    if importlib.util.find_spec("pronto"):
        for reader in ("read_obo", "pronto"):
            taken, more, _ = in_new_process(reader, str(home / FOR_PRONTO))
            print(f"OBO 2019 with {reader} in a new process: {taken:.2f} s, {more:.0f} MB")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(read_once(*sys.argv[1:]) if len(sys.argv) > 1 else main())
