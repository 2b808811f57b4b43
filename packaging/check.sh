#!/usr/bin/env bash
# Install a wheel or an sdist into a fresh environment away from the source tree, and run the tests against it.
# packaging/check.sh PACKAGE; PYTHON is the interpreter, MARKS (pytest -m) and TESTS (paths) select tests.
set -euo pipefail
package=$(realpath "$1")
tree=$(cd "$(dirname "$0")/.." && pwd)
away=$(mktemp -d)
trap 'rm -rf "$away"' EXIT

"${PYTHON:-python3}" -m venv "$away/venv"
python="$away/venv/bin/python"
"$python" -m pip --disable-pip-version-check -q install --upgrade 'pip>=25.1'
(cd "$tree" && "$python" -m pip -q install "hietan[all] @ file://$package" --group test)

mkdir "$away/tree"
cp -r "$tree"/{tests,reproduction,packaging,benchmarks,kernel,docs,README.md,pyproject.toml} "$away/tree"
cd "$away/tree"
"$python" - "$away/venv" <<'PYTHON'
import sys
import hietan
assert hietan.__file__.startswith(sys.argv[1]), f"{hietan.__file__} is not the installed package"
PYTHON
"$away/venv/bin/hietan" --version --verbose
"$away/venv/bin/hietan" demo --folds 2 --genes 3 --report report.html
marks=${MARKS:+($MARKS) and }
"$python" -m pytest -n 2 -q -p no:cacheprovider -m "${marks}not source" ${TESTS:-tests}
"$python" -m pytest -n 2 -q -p no:cacheprovider --pyargs hietan
