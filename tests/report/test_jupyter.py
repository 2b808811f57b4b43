"""A notebook in a real Jupyter kernel: every cell is shown as HTML. In a real server: tests/browser."""

import re
from pathlib import Path

import pytest

NOTEBOOK = Path(__file__).parents[1] / "data" / "notebook.ipynb"
EXPECTED = {  # the last line of a cell, and what its output holds
    "data": r"<b>60</b>.*rows",
    "data.summary()": r"60",
    "results": r"Hie-TAN-Lite",
    "results.to_frame()": r"<th>gmean</th>",
    "results.report(height=640)": r'<iframe srcdoc="&lt;!doctype html&gt;.*height:640px',
    'clf.explain(data, "row3")': r"row3",
    "clf.explain(data, data.instance_names[:3])": r"row0.*row1.*row2",
    "clf.trees(data.X[:1])[0]": r"<pre",
    "data.hierarchy": r"20",
}


@pytest.mark.patient
def test_a_notebook_shows_everything():
    nbclient = pytest.importorskip(
        "nbclient", reason="Jupyter is not installed: pip install --group notebook"
    )
    nbformat = pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    notebook = nbformat.reads(NOTEBOOK.read_text(encoding="utf-8"), as_version=4)
    done = nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    shown = {}
    for cell in done.cells[1:]:
        (output,) = cell.outputs
        shown[cell.source] = output["data"]["text/html"]
    assert shown.keys() == EXPECTED.keys()
    for source, pattern in EXPECTED.items():
        assert re.search(pattern, shown[source], re.S), source
