"""Our readers against reading and splitting the same lines in plain Python.

Each figure is a ratio of two times from one run, the two taken in turn. Peak memory is that of a fresh process
that reads the file once, above what it needs to import the library.

    HIETAN_DATA=... python benchmarks/bench_readers.py
"""

import gzip
import io
import os
import subprocess
import sys
import time
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


def read_and_split(path, separator):
    if path.endswith(".zip"):
        with zipfile.ZipFile(path) as archive, archive.open(archive.namelist()[0]) as member:
            return sum(len(line.split(separator)) for line in io.TextIOWrapper(member, encoding="utf-8"))
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return sum(len(line.split(separator)) for line in file)


def read(reader, path):
    """With our reader; annotations are taken one by one and forgotten."""
    from hietan import datasets

    found = getattr(datasets, reader)(path)
    return found if reader == "read_obo" else sum(1 for _ in found)


def seconds(function, *arguments):
    start = time.process_time()
    function(*arguments)
    return time.process_time() - start


def peak_mb(reader, path):
    """(above the import, altogether) in a process of its own."""
    answer = subprocess.run(
        [sys.executable, __file__, reader, path], capture_output=True, text=True, check=True
    ).stdout
    before, after = map(float, answer.split())
    return after - before, after


def report_memory(reader, path):
    import hietan.datasets  # noqa: F401

    before = high_water_mb()
    kept = read(reader, path)
    after = high_water_mb()
    del kept
    print(before, after)


def high_water_mb():
    """Of this process alone: what getrusage tells begins with the peak of the process that started it."""
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
        more, altogether = peak_mb(reader, path)
        print(f"{name:16}{plain:9.2f}{ours:9.2f}{ours / plain:7.2f}{more:9.0f}{altogether:13.0f}")
        good &= ours <= AT_MOST_TIMES * plain and more <= AT_MOST_MB
    print("within bounds" if good else f"NOT within {AT_MOST_TIMES:g} times and {AT_MOST_MB:g} MB")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(report_memory(*sys.argv[1:]) if len(sys.argv) > 1 else main())
