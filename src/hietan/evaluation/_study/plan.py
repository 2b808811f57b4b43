"""A study's plan: its datasets, methods, folds and seeds, all checked before anything runs."""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hietan._runtime.equal_rows import count_equal_rows, has_equal, row_groups
from hietan.evaluation._study.explaining import (
    DRAWN,
    LEAST_ROWS,
    MOST_EXPLANATIONS,
    MOST_ROWS,
    REQUESTED,
    RowsToExplain,
    draw_rows_to_explain,
    refuse_unknown_rows,
)
from hietan.evaluation._study.fingerprint import (
    dataset_fingerprint,
    describe,
    describe_splitter,
    folds_fingerprint,
    method_fingerprint,
    versions,
)
from hietan.evaluation._study.journal import FORMAT, journal_key
from hietan.exceptions import StudyError
from hietan.scores.cross_validation import (
    Label,
    class_labels,
    class_names,
    configure,
    fold_of_rows,
)

MOST_SEEDS = 2**20
"""The largest number of seeds in a study."""
EQUAL_ROWS = ("keep", "same-fold", "not-tested")
"""The ways in which a study can treat identical rows."""


@dataclass(frozen=True, eq=False)
class DatasetView:
    """A dataset's names, or default names: x0, x1, ... for columns and 0, 1, ... for rows.

    The dataset needs only `X` and `y`; other attributes are used if present.

    >>> from types import SimpleNamespace
    >>> import numpy as np
    >>> view = DatasetView(SimpleNamespace(X=np.zeros((2, 3)), y=np.array([0, 1]), feature_names=["a", "b", "c"]))
    >>> view.term_names, view.instance_names, view.hierarchy
    (['a', 'b', 'c'], ['0', '1'], None)
    """

    data: Any

    @property
    def feature_names(self) -> list[str]:
        """The column identifiers."""
        return list(
            getattr(self.data, "feature_names", None) or (f"x{j}" for j in range(self.data.X.shape[1]))
        )

    @property
    def term_names(self) -> list[str]:
        """The readable column names, or the identifiers if there are no readable names."""
        return list(getattr(self.data, "term_names", None) or self.feature_names)

    @property
    def instance_names(self) -> list[str]:
        """The row names."""
        return list(getattr(self.data, "instance_names", None) or map(str, range(len(self.data.y))))

    @property
    def class_names(self) -> list[str]:
        """The class names, or an empty tuple if the dataset does not name its classes."""
        return [str(name) for name in getattr(self.data, "target_names", ())]

    @property
    def symbols(self) -> list[str]:
        """The readable row names, or an empty tuple if the dataset has no readable row names."""
        return list(getattr(self.data, "symbols", ()))

    @property
    def row_identities(self) -> frozenset[str]:
        """The row names, or none if they are only numbers such as 0, 1, ... or row1, row2, ..."""
        names = self.instance_names
        numbers = [name.removeprefix("row") for name in names]
        is_numbered = all(text.isdecimal() and len(text) < 10 for text in numbers)
        if is_numbered and max(map(int, numbers)) - min(map(int, numbers)) < 2 * len(names):
            return frozenset()
        return frozenset(names)

    @property
    def row_noun(self) -> str:
        """The word for a row."""
        return str(getattr(self.data, "row_noun", "row"))

    @property
    def hierarchy(self) -> Any:
        """The hierarchy over the columns, or None."""
        return getattr(self.data, "hierarchy", None)

    @property
    def account(self) -> dict[str, Any]:
        """The numbers of records that were read, used and dropped when the dataset was built, if known."""
        provenance = getattr(self.data, "provenance", None)
        found = provenance.get("account") if isinstance(provenance, dict) else None
        return found if isinstance(found, dict) else {}

    @property
    def equal_rows(self) -> dict[str, Any]:
        """The counts of identical rows and the warning from `EqualRows`."""
        found = count_equal_rows(self.data.X, self.data.y)
        return asdict(found) | {"warning": found.warning}


def method_key(name: str, setting: str, tuning: str) -> str:
    """Return a method's key, which is unique within its study.

    >>> method_key("tan", "alpha=1", "none"), method_key("forest", "", "threshold")
    ('tan @ alpha=1 @ tuned none', 'forest @ tuned threshold')
    """
    return " ".join([name, *([f"@ {setting}"] if setting else []), f"@ tuned {tuning}"])


def has_class_weights(estimator: Any) -> bool:
    """Return whether an estimator, or an estimator in it, weights the classes or is given their probabilities.

    >>> from sklearn.linear_model import LogisticRegression
    >>> has_class_weights(LogisticRegression(class_weight="balanced")), has_class_weights(LogisticRegression())
    (True, False)
    """
    return any(
        value is not None and name.rpartition("__")[2] in ("class_weight", "class_prior")
        for name, value in estimator.get_params(deep=True).items()
    )


@dataclass(frozen=True)
class Method:
    """A classifier with a name.

    Attributes
    ----------
    name : str
        Its name in tables and figures.
    estimator : scikit-learn classifier
        The classifier; it is cloned for every fold.
    setting : str
        Distinguishes it from other uses of the same method, such as "alpha=1". Methods are ranked within a setting; a
        method without a setting is ranked in all of them.
    tuning : str
        The parameters tuned on the training rows; "none" if there are none. Methods are ranked only with methods of
        the same tuning.
    """

    name: str
    estimator: Any
    setting: str = ""
    tuning: str = "none"

    @property
    def key(self) -> str:
        """The method's unique name within the study."""
        return method_key(self.name, self.setting, self.tuning)


@dataclass(frozen=True)
class Job:
    """One fold of one method on one dataset, for one seed."""

    dataset: str
    method: str
    seed: int
    fold: int


@dataclass(frozen=True)
class Progress:
    """A study's progress.

    Attributes
    ----------
    done, total : int
        The number of finished jobs and of all jobs.
    resumed : int
        The number of jobs that an earlier run finished.
    failed : int
        The number of failures so far.
    job : Job or None
        The job that has just finished; None before the first.
    seconds : float
        How long that job took.
    """

    done: int
    total: int
    resumed: int
    failed: int
    job: Job | None = None
    seconds: float = 0.0


@dataclass(frozen=True)
class Study:
    """A study's plan.

    Attributes
    ----------
    datasets : mapping of str to dataset
        The datasets by name.
    methods : mapping of str to Method
        The methods by key.
    cv : int or splitter of scikit-learn
        The number of folds, or a splitter.
    seeds : tuple of int
        The seeds for the splits.
    groups : mapping of str to str
        Each dataset's group that has one.
    row_groups : mapping of str to str
        The group of each row that has one, by row name; rows of a group are held out together.
    usage : bool
        Whether to count feature usage.
    command : str
        The command that runs the study.
    positive : str
        The name of the positive class; "" for the one of each dataset, or the last class in sorted order.
    lose : tuple of float
        The shares of annotations that held-out rows lose in further predictions, in ascending order.
    equal_rows : str
        How to treat identical rows, one of `EQUAL_ROWS`.
    explain : bool
        Whether the jobs of the first seed also explain rows.
    rows : tuple of str
        The names of rows to explain besides those that are drawn.
    """

    datasets: Mapping[str, Any]
    methods: Mapping[str, Method]
    cv: Any
    seeds: tuple[int, ...]
    groups: Mapping[str, str] = field(default_factory=dict)
    row_groups: Mapping[str, str] = field(default_factory=dict)
    usage: bool = True
    command: str = ""
    positive: str = ""
    lose: tuple[float, ...] = ()
    equal_rows: str = "keep"
    explain: bool = False
    rows: tuple[str, ...] = ()

    @cached_property
    def class_names(self) -> dict[str, dict[Label, str]]:
        """Each dataset's labels with their class names. The positive one of two classes is the last."""
        found = dict[str, dict[Label, str]]()
        for name, data in self.datasets.items():
            try:
                class_labels(data.y)
                found[name] = class_names(data, self.positive)
            except (TypeError, ValueError) as error:
                raise StudyError(f"dataset {name}: {error}") from error
        return found

    def positive_name(self, dataset: str) -> str:
        """Return the name of the positive one of a dataset's two classes, or "" if it has more classes."""
        names = list(self.class_names[dataset].values())
        return names[-1] if len(names) == 2 else ""

    @cached_property
    def shared_rows(self) -> dict[str, list[str]]:
        """For each dataset, the datasets that share more than half of the smaller dataset's rows with it."""
        rows = {name: self.view(name).row_identities for name in self.datasets}
        found = {
            name: [
                other
                for other, theirs in rows.items()
                if other != name and 2 * len(own & theirs) > min(len(own), len(theirs))
            ]
            for name, own in rows.items()
        }
        return {name: others for name, others in found.items() if others}

    @property
    def class_weighted(self) -> list[str]:
        """The names of the methods whose classifiers have class weights."""
        return list(dict.fromkeys(m.name for m in self.methods.values() if has_class_weights(m.estimator)))

    @cached_property
    def manifest(self) -> dict[str, Any]:
        """The study as plain values, with fingerprints of data and methods. This is the content of `study.json`.

        A directory belongs to a study if its manifest is the same in every entry.
        """
        methods = self.methods.items()
        return {
            "format": FORMAT,
            "versions": versions(),
            "cv": self._cv_text(),
            "seeds": list(self.seeds),
            "usage": self.usage,
            "datasets": {name: self._data_fingerprint(name) for name in self.datasets},
            "methods": {key: method_fingerprint(method.estimator) for key, method in methods},
            "groups": dict(self.groups),
            "classes": {name: list(map(str, labels)) for name, labels in self.class_names.items()},
            "shared_rows": self.shared_rows,
            "class_weighted": self.class_weighted,
            "descriptions": {key: describe(method.estimator) for key, method in methods},
            "command": self.command,
            **({"lose": list(self.lose)} if self.lose else {}),
            **({"equal_rows": self.equal_rows} if self.equal_rows != "keep" else {}),
        }

    def _cv_text(self) -> int | str:
        """Return the number of folds, or a description of the splitter if it is not the default."""
        usual = isinstance(self.cv, Integral)
        text = f"{self.cv} folds" if usual else describe_splitter(self.cv)
        return f"{text}, {self._together}" if self._together else int(self.cv) if usual else text

    @property
    def _together(self) -> str:
        """A text on the rows that stay together in a fold, or "" for the default folds."""
        equal = "equal rows together" if self.equal_rows == "same-fold" else ""
        return "groups of rows" if self.row_groups else equal

    def _data_fingerprint(self, name: str) -> str:
        """Return a dataset's fingerprint, which includes the folds unless they are the default folds."""
        known = dataset_fingerprint(self.datasets[name])
        if isinstance(self.cv, Integral) and not self._together:
            return known
        return f"{known} in folds {folds_fingerprint([self.folds[name, seed] for seed in self.seeds])}"

    def n_folds(self, dataset: str, seed: int) -> int:
        """Return a dataset's number of folds."""
        return int(self.folds[dataset, seed].max()) + 1

    def _groups_of(self, name: str) -> NDArray[Any] | None:
        """Return the group of each row of a dataset. A row without a group forms its own group."""
        if self.equal_rows == "same-fold":
            return row_groups(self.datasets[name].X)
        if not self.row_groups:
            return None
        rows = self.view(name).instance_names
        known = {group: k for k, group in enumerate(dict.fromkeys(self.row_groups.values()))}
        codes = [
            known[self.row_groups[row]] if row in self.row_groups else -1 - k for k, row in enumerate(rows)
        ]
        return np.array(codes)

    @cached_property
    def tested(self) -> dict[str, NDArray[np.bool_]]:
        """The rows of each dataset that metrics are computed on."""
        found = {}
        for name, data in self.datasets.items():
            everything = np.ones(len(data.y), dtype=np.bool_)
            found[name] = ~has_equal(data.X) if self.equal_rows == "not-tested" else everything
            if (lost := np.setdiff1d(data.y, data.y[found[name]])).size:
                raise StudyError(
                    f"dataset {name}: every row of class {lost[0]!s} is identical to another row, so none of them "
                    "would be tested; use equal_rows='same-fold' (--equal-rows same-fold)"
                )
        return found

    def incomplete(self, dataset: str, seed: int) -> list[Any]:
        """Return copies of a dataset's rows: for each requested share, a copy that has lost this share of its
        annotations.
        """
        data = self.datasets[dataset]
        return [data.hierarchy.lose_annotations(data.X, share, seed) for share in self.lose]

    @cached_property
    def folds(self) -> dict[tuple[str, int], NDArray[np.int64]]:
        """The fold in which each row is held out, by dataset and seed."""
        return {
            (name, seed): self._fold(name, data, seed)
            for name, data in self.datasets.items()
            for seed in self.seeds
        }

    def _fold(self, name: str, data: Any, seed: int) -> NDArray[np.int64]:
        try:
            class_labels(data.y)
            return fold_of_rows(data.y, self.cv, seed, self._groups_of(name), self.view(name).class_names)
        except (TypeError, ValueError) as error:
            raise StudyError(f"dataset {name}: {error}") from error

    @cached_property
    def explained_rows(self) -> dict[str, dict[int, str]]:
        """The rows of each dataset that all methods explain, and why each was chosen."""
        if not self.explain:
            return {name: {} for name in self.datasets}
        explaining = sum(hasattr(method.estimator, "explain") for method in self.methods.values())
        n = max(LEAST_ROWS, min(MOST_ROWS, MOST_EXPLANATIONS // (len(self.datasets) * max(1, explaining))))
        rows_of = {}
        for name, data in self.datasets.items():
            chosen = dict.fromkeys(draw_rows_to_explain(data.y, n, self.seeds[0]), DRAWN)
            names, requested = self.view(name).instance_names, set(self.rows)
            rows_of[name] = chosen | {i: REQUESTED for i, row in enumerate(names) if row in requested}
        return rows_of

    def rows_to_explain(self, job: Job) -> RowsToExplain | None:
        """Return what a job explains, or None if it explains nothing."""
        is_asked = self.explain and job.seed == self.seeds[0]
        if not is_asked or not hasattr(self.methods[job.method].estimator, "explain"):
            return None
        fold = self.folds[job.dataset, job.seed]
        chosen = list(self.explained_rows[job.dataset])
        rows = tuple(i for i in chosen if fold[i] == job.fold)
        if not rows:
            return None
        return RowsToExplain(
            rows=rows,
            labels=tuple(self.class_names[job.dataset]),
            term_names=getattr(self.datasets[job.dataset], "term_names", None),
            n_folds=len(np.unique(fold[chosen])),
            key=self._explanation_keys[job.dataset, job.method],
        )

    @cached_property
    def _explanation_keys(self) -> dict[tuple[str, str], str]:
        """A hash of everything that affects the explanations of a dataset by a method, except the rows."""
        keys = {}
        for dataset in self.datasets:
            names = hashlib.sha256(json.dumps(self.view(dataset).term_names).encode()).hexdigest()
            for method in self.methods:
                keys[dataset, method] = journal_key(self.manifest, dataset, method).hex() + names
        return keys

    def view(self, dataset: str) -> DatasetView:
        """Return a dataset with names for all rows and columns."""
        return DatasetView(self.datasets[dataset])

    def model(self, dataset: str, method: str, seed: int) -> Any:
        """Return an unfitted clone of a method's classifier, with the dataset's hierarchy and the seed set."""
        return configure(self.methods[method].estimator, self.view(dataset).hierarchy, seed)

    def jobs(self) -> Iterator[Job]:
        """Yield all jobs, dataset by dataset and fold by fold."""
        for dataset in self.datasets:
            for seed in self.seeds:
                for fold in range(self.n_folds(dataset, seed)):
                    yield from (Job(dataset, method, seed, fold) for method in self.methods)


def plan_study(
    datasets: Iterable[Any],
    methods: Mapping[str, Any] | Iterable[Method],
    *,
    cv: Any,
    seeds: int | Sequence[int],
    groups: Mapping[str, str] | None,
    row_groups: Mapping[str, str] | None,
    usage: bool,
    command: str,
    positive: str,
    lose: Iterable[float] = (),
    equal_rows: str = "keep",
    explain: bool = False,
    rows: Sequence[str] = (),
) -> Study:
    """Plan a study; see `run_study` for the parameters. Raise StudyError if a parameter is invalid."""
    if isinstance(methods, Mapping):
        methods = [Method(name, estimator) for name, estimator in methods.items()]
    if isinstance(seeds, int) and seeds > MOST_SEEDS:
        raise StudyError(f"seeds is {seeds!r:.40}; expected at most {MOST_SEEDS}")
    chosen = tuple(range(seeds)) if isinstance(seeds, int) else tuple(map(int, seeds))
    if not chosen or len(set(chosen)) < len(chosen) or min(chosen) < 0:
        raise StudyError(
            f"seeds is {seeds!r}; expected a number of seeds above 0, or different seeds of 0 or more"
        )
    if isinstance(cv, bool) or not (isinstance(cv, Integral) or callable(getattr(cv, "get_n_splits", None))):
        raise StudyError(f"cv is {cv!r:.80}; expected a number of folds, or a scikit-learn splitter")
    if isinstance(cv, Integral) and cv < 2:
        raise StudyError(f"cv is {cv}; expected at least 2 folds")
    named = _by_name("dataset", [(data.name, data) for data in datasets])
    keyed = _by_name("method", [(method.key, method) for method in methods])
    if equal_rows not in EQUAL_ROWS:
        raise StudyError(f"equal_rows is {equal_rows!r:.80}; expected one of {', '.join(EQUAL_ROWS)}")
    if equal_rows == "same-fold" and row_groups:
        raise StudyError(
            "equal_rows='same-fold' and row_groups are mutually exclusive; put identical rows in a group instead"
        )
    shares = list(lose)
    if not all(isinstance(s, Real) and 0 <= s <= 1 for s in shares) or len(set(shares)) < len(shares):
        raise StudyError(f"lose is {shares!r:.80}; expected different numbers from 0 to 1")
    if shares and (
        bare := [name for name, data in named.items() if getattr(data, "hierarchy", None) is None]
    ):
        raise StudyError(
            f"lose needs a hierarchy, but dataset {bare[0]} has none; omit lose, or remove the dataset"
        )
    losses = tuple(sorted(float(share) for share in shares if share))  # complete rows are predicted anyway
    study = Study(
        datasets=named,
        methods=keyed,
        cv=cv,
        seeds=chosen,
        groups=dict(groups or {}),
        row_groups=dict(row_groups or {}),
        usage=usage,
        command=command,
        positive=positive,
        lose=losses,
        equal_rows=equal_rows,
        explain=explain,
        rows=tuple(rows),
    )
    refuse_unknown_rows({name: study.view(name).instance_names for name in named}, rows)
    names = {study.positive_name(name): name for name in reversed(named) if study.positive_name(name)}
    if len(names) > 1:
        listed = "; ".join(f"{label} in {name}" for label, name in reversed(names.items()))
        warnings.warn(
            f"the datasets have different positive classes ({listed}), so mean sensitivity, specificity and "
            "average precision mix different classes; choose one positive class for all datasets (positive, "
            "--positive CLASS)",
            RuntimeWarning,
            stacklevel=3,
        )
    if row_groups and not any(row in row_groups for name in named for row in study.view(name).instance_names):
        raise StudyError(
            f"row_groups contains none of the datasets' row names (it begins with {next(iter(row_groups))!r}); "
            "use the datasets' row names"
        )
    return study


def _by_name(what: str, items: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    if not items:
        raise StudyError(f"there is no {what}; a study needs at least one")
    names = [name for name, _ in items]
    repeated = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if repeated:
        raise StudyError(f"{what} {repeated[0]!r} is given twice; give every {what} a different name")
    if "" in names:
        raise StudyError(f"a {what} has no name; give every {what} a name")
    return dict(items)
