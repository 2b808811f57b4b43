"""The command: python -m reproduction.aire [run|write] [--seeds N].

`run` measures what docs/aire.csv lacks; an interrupted run resumes. `write` makes the tables of docs/selections.md from
that file alone. Without a word, both are done.
"""

from __future__ import annotations

import argparse

from reproduction.aire import measure, page

if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m reproduction.aire")
    parser.add_argument("steps", nargs="*", choices=["run", "write", []], default=[])
    parser.add_argument("--seeds", type=int, default=1)
    options = parser.parse_args()
    if "run" in (options.steps or ["run"]):
        measure.run(range(options.seeds))
    if "write" in (options.steps or ["write"]):
        page.write()
