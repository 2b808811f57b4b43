"""The page on scikit-learn's tools: every line of it runs, in the order of the page."""

import re
import warnings
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "scikit-learn.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
TOOLS = [
    "GridSearchCV", "RandomizedSearchCV", "HalvingGridSearchCV", "CalibratedClassifierCV", "TunedThresholdClassifierCV",
    "BaggingClassifier", "AdaBoostClassifier", "StackingClassifier", "VotingClassifier", "OneVsRestClassifier",
    "MultiOutputClassifier", "ClassifierChain", "permutation_importance", "cross_validate", "learning_curve",
    "make_pipeline", "set_output", "enable_metadata_routing", "make_imbalanced_pipeline", "RandomUnderSampler",
    "RUSBoostClassifier",
]  # fmt: skip


def test_the_page_shows_every_tool():
    code = "".join(BLOCKS)
    assert [tool for tool in TOOLS if tool not in code] == []


@pytest.mark.patient
def test_every_line_of_the_page_runs():
    known = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # tools that hand over arrays warn of the names that are missing
        for block in BLOCKS:
            exec(block, known)
    assert known["chain"].predict(known["X"][list(known["hierarchy"].features)]).shape == (80, 2)
