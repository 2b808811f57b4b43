"""The lines of the kernel that a build with coverage has run, and those that it has not.

    python kernel_coverage.py DIRECTORY

DIRECTORY holds the compiler's notes (.gcno) and, beside them, the counts of all runs (.gcda). A line that is compiled
into several objects, or from a template several times, counts as run if any of them ran it.
"""

import json
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

KERNEL = Path(__file__).parents[3] / "kernel"


def count_lines(directory):
    """For each file of the kernel, how often each of its lines was run."""
    times = defaultdict(lambda: defaultdict(int))
    for notes in sorted(directory.rglob("*.gcno")):
        command = ["gcov", "--json-format", "--stdout", notes.resolve()]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        for document in done.stdout.splitlines():
            for file in json.loads(document)["files"]:
                path = (KERNEL.parent / file["file"]).resolve()
                if KERNEL not in path.parents or path.parent.name == "tests":
                    continue
                for line in file["lines"]:
                    times[path.relative_to(KERNEL)][line["line_number"]] += line["count"]
    return times


def main(directory):
    total = missed = 0
    times = count_lines(Path(directory))
    for path in sorted(times):
        lines = times[path]
        never = sorted(line for line, count in lines.items() if not count)
        total, missed = total + len(lines), missed + len(never)
        share = 100 * (1 - len(never) / len(lines))
        print(
            f"{path!s:28}{len(lines):>5} lines{share:>7.1f} %  not run: {', '.join(map(str, never)) or 'none'}"
        )
    print(f"{'kernel':28}{total:>5} lines{100 * (1 - missed / total):>7.1f} %")


if __name__ == "__main__":
    main(*sys.argv[1:])
