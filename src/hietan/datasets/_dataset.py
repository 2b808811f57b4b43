"""A dataset, which all readers, builders and generators in this package return, and its file format.

The file is a zip archive of plain arrays (`.npy`) and JSON, without code. Its bytes depend only on the content, so
the same dataset always gives the same file.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from hietan._io.archives import ArchiveReader, write_archive
from hietan._io.files import refuse_special
from hietan._runtime.equal_rows import EqualRows, count_equal_rows
from hietan._runtime.optional import import_optional
from hietan.datasets._building.options import check_provenance
from hietan.datasets._summary import DatasetSummary, dataset_html, summarize
from hietan.exceptions import DataError
from hietan.hierarchy import Hierarchy
from hietan.hierarchy._hierarchy import rebuild

FORMAT, VERSION = "hietan dataset", 1


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """Rows of binary features, the hierarchy over these features, and each row's class.

    Parameters
    ----------
    X : csr_array of uint8, shape (n, d)
        The features; every stored value is 0 or 1.
    y : integer ndarray, shape (n,)
        Each row's class, an index into `target_names`; -1 for all rows if they have no labels.
    hierarchy : Hierarchy
        The hierarchy over exactly the columns of `X`: ``hierarchy.features == feature_names``.
    feature_names, term_names : tuple of str, length d
        The identifier of each column, and its human-readable name (the identifier if there is none).
    instance_names : tuple of str, length n
        The identifier of each row.
    target_names : tuple of str
        The class names; empty if the rows have no labels. The positive class is moved to the end, and `y` follows.
    provenance : dict
        The origin of the data and how they were processed; plain values that can be written as JSON.
    name : str
        The dataset's name in tables and figures.
    symbols : tuple of str, length n or 0
        A readable name of each row, such as a gene symbol in addition to its id; "" for a row without one. The tuple is
        empty if no row has one.
    synonyms : tuple of tuple of str, length n or 0
        The other names of each row, such as synonyms in an annotation file; empty if no row has any. A row is
        recognised in other data by its name, its symbol and its synonyms.
    row_noun : str
        The word for a row in reports and messages, in the singular, such as "gene" or "patient" [default: "row"].
    positive : str
        The name of the positive class, which metrics and rankings refer to [default: the rarer of two classes, or the
        last if they tie; "" for more classes].

    Examples
    --------
    >>> from hietan.datasets import make_hierarchical_classification
    >>> data = make_hierarchical_classification(100, 50, random_state=0)
    >>> data.X.shape, data.y.shape, data.target_names
    ((100, 50), (100,), ('class0', 'class1'))
    >>> data.hierarchy.is_closed(data.X)
    True
    """

    X: csr_array
    y: NDArray[np.intp]
    hierarchy: Hierarchy
    feature_names: tuple[str, ...]
    term_names: tuple[str, ...]
    instance_names: tuple[str, ...]
    target_names: tuple[str, ...]
    provenance: dict[str, Any] = field(default_factory=dict)
    name: str = ""
    symbols: tuple[str, ...] = ()
    synonyms: tuple[tuple[str, ...], ...] = ()
    row_noun: str = "row"
    positive: str = ""

    def __post_init__(self) -> None:
        for attribute in ("feature_names", "term_names", "instance_names", "target_names", "symbols"):
            object.__setattr__(self, attribute, _check_names(attribute, getattr(self, attribute)))
        _check_matrix(self.X)
        n_rows, n_columns = self.X.shape
        object.__setattr__(
            self, "synonyms", tuple(_check_names("synonyms", names) for names in self.synonyms)
        )
        columns, rows = (n_columns, "columns"), (n_rows, "rows")
        sizes = {"feature_names": columns, "term_names": columns, "instance_names": rows}
        sizes |= {attribute: rows for attribute in ("symbols", "synonyms") if getattr(self, attribute)}
        for attribute, (expected, what) in sizes.items():
            found = len(getattr(self, attribute))
            if found != expected:
                raise ValueError(
                    f"{attribute} has {found} entries but X has {expected} {what}; the two numbers must be "
                    "equal"
                )
        _check_names("name and row_noun", (self.name, self.row_noun))
        if not self.row_noun.strip():
            raise ValueError(f"row_noun must be a word such as 'gene', got {self.row_noun!r:.80}")
        _check_target(self.y, n_rows, len(self.target_names))
        if self.positive != "" and self.positive not in self.target_names:
            listed = ", ".join(self.target_names) or "none, because the rows have no labels"
            raise ValueError(
                f"positive is {self.positive!r:.80}; expected one of the classes: {listed} (pass positive too if you "
                "replace target_names)"
            )
        if len(set(self.target_names)) < len(self.target_names):
            raise ValueError(f"target_names repeats a class: {', '.join(self.target_names)!r:.80}")
        self._move_positive_class_last()
        _check_hierarchy(self.hierarchy, self.feature_names)
        try:
            json.dumps(self.provenance)
        except (TypeError, ValueError) as error:
            raise TypeError(f"provenance must contain only values that JSON can store ({error})") from error
        check_provenance(self.provenance)

    def _move_positive_class_last(self) -> None:
        positive = self.positive
        if not positive and self.target_names:
            present, counts = np.unique(self.y, return_counts=True)
            if len(present) == 2:
                positive = self.target_names[present[int(counts[1] <= counts[0])]]
            elif len(self.target_names) == 2:
                positive = self.target_names[1]
        object.__setattr__(self, "positive", positive)
        if not positive or positive == self.target_names[-1]:
            return
        names = (*(name for name in self.target_names if name != positive), positive)
        number = np.array([names.index(name) for name in self.target_names], dtype=np.intp)
        object.__setattr__(self, "target_names", names)
        object.__setattr__(self, "y", number[self.y])

    @classmethod
    def from_pairs(
        cls,
        pairs: Any,
        labels: Any,
        hierarchy: Any,
        *,
        columns: Any = None,
        min_support: int = 1,
        drop_roots: bool | None = None,
        drop_terms: Iterable[str] = (),
        name: str = "",
        row_noun: str | None = None,
        positive: str = "",
    ) -> Dataset:
        """Build a dataset from (item, term) pairs, with a row per labelled item and a feature per term.

        Ancestors are added.

        This is `build_dataset` with its arguments in another order and with `min_support` 1.

        Parameters
        ----------
        pairs : iterable of (item, term), frame of two columns, dict {item: terms}, path or open file
            The terms of each item; the second column of a frame may contain lists of terms.
        labels : dict {item: label}, series, frame of two columns, path, open file or None
            The class of each item. With None, all items become rows, without labels.
        hierarchy : Hierarchy, frame of edges, iterable of (parent, child), path or open file
            The hierarchy over the terms.
        columns : path, frame or dict, optional
            Another table whose columns become ordinary features; see `build_dataset`.
        min_support : int
            The smallest number of rows that must have a term; rarer terms are left out.
        drop_roots : bool, optional
            Whether to leave out the roots [default: only roots that all rows have, or all roots if the hierarchy is an
            ontology file].
        drop_terms : iterable of str
            Terms to leave out with all terms below them; see `build_dataset`.
        name : str
            The dataset's name.
        row_noun : str, optional
            The word for a row in reports [default: "row"].
        positive : str
            The positive class.

        Examples
        --------
        >>> pairs = [("p1", "tea"), ("p2", "coffee"), ("p3", "bread")]
        >>> labels = {"p1": "winter", "p2": "winter", "p3": "summer"}
        >>> data = Dataset.from_pairs(pairs, labels, [("drinks", "tea"), ("drinks", "coffee"), ("food", "bread")])
        >>> data.feature_names, data.X.toarray().tolist()
        (('drinks', 'tea', 'coffee', 'food', 'bread'), [[1, 1, 0, 0, 0], [1, 0, 1, 0, 0], [0, 0, 0, 1, 1]])
        """
        from hietan.datasets._building.build import assemble
        from hietan.datasets._building.options import BuildOptions

        chosen = {"min_support": min_support, "drop_roots": drop_roots, "drop_terms": drop_terms}
        options, origin = BuildOptions(**chosen), "hietan.datasets.Dataset.from_pairs"  # type: ignore[arg-type]
        about: dict[str, Any] = {"name": name, "row_noun": row_noun, "positive": positive, "origin": origin}
        return assemble(hierarchy, pairs, labels, columns, options, **about)

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        y: Any = None,
        hierarchy: Any = None,
        *,
        min_support: int = 0,
        bins: int = 4,
        name: str = "",
        row_noun: str = "row",
        positive: str = "",
    ) -> Dataset:
        """Build a dataset from a data frame with a row per item and a column per term; leaf columns are enough.

        Ancestors of the columns also become columns, and every row gets a 1 at the ancestors of its terms. Term columns
        contain truth values, 0 and 1, or counts; counts above 0 mean present. A column of lists contains the terms of
        each row. Columns that are not in the hierarchy become ordinary features without relations: unchanged if they
        contain truth values or 0 and 1, otherwise binned or with one feature per value, as in `build_dataset` with
        `columns`.

        Parameters
        ----------
        frame : data frame of pandas or polars
            The rows; the index of a pandas frame names them.
        y : str, series, array or None
            The class of each row: the name of a column of the frame, or the labels themselves. A series with the same
            index in another order is matched by index. With None, the rows have no labels.
        hierarchy : Hierarchy, frame of edges, iterable of (parent, child) or None
            The hierarchy over the terms. With None, no columns are related.
        min_support : int
            The smallest number of rows that must have a term; rarer terms are left out. 0 keeps all columns.
        bins : int
            The number of bins, of about equal size, for each numeric column.
        name, row_noun, positive : str
            The dataset's name, the word for a row in reports, and the positive class.

        Examples
        --------
        >>> import pandas as pd
        >>> frame = pd.DataFrame({"tea": [1, 0], "bread": [0, 1], "season": ["winter", "summer"]}, index=["p1", "p2"])
        >>> data = Dataset.from_frame(frame, "season", [("drinks", "tea"), ("food", "bread")])
        >>> data.feature_names, data.X.toarray().tolist()
        (('drinks', 'tea', 'food', 'bread'), [[1, 1, 0, 0], [0, 0, 1, 1]])
        """
        from hietan.datasets._building.frames import dataset_from_frame

        options: dict[str, Any] = {
            "min_support": min_support,
            "bins": bins,
            "name": name,
            "row_noun": row_noun,
        }
        return replace(dataset_from_frame(frame, y, hierarchy, **options), positive=positive)

    @property
    def is_labelled(self) -> bool:
        """Whether the rows have classes."""
        return bool(self.target_names)

    @cached_property
    def equal_rows(self) -> EqualRows:
        """The number of rows that have an identical row, and the number of identical pairs with different classes."""
        return count_equal_rows(self.X, self.y)

    def summary(self) -> DatasetSummary:
        """Return the dataset's sizes, classes and origin, and what was dropped, as plain values."""
        return summarize(self)

    def subset(self, rows: Any = None, features: Any = None, *, name: str | None = None) -> Dataset:
        """Return some of the rows and features, in the given order.

        Parameters
        ----------
        rows, features : names, positions, a slice or a boolean mask, optional
            The rows and features to keep [default: all]. Features keep their relations, even if the path between them
            runs through features that are left out.
        name : str, optional
            The name of the result [default: this dataset's name].

        Returns
        -------
        Dataset
            The provenance is copied from this dataset; its entry "subsets" gains the numbers kept and their totals.

        Examples
        --------
        >>> from hietan.datasets import make_hierarchical_classification
        >>> data = make_hierarchical_classification(100, 50, random_state=0)
        >>> data.subset(rows=data.y == 1, features=["T:0000003", "T:0000001"]).X.shape
        (50, 2)
        """
        at_rows = _positions("rows", rows, self.instance_names)
        at_columns = _positions("features", features, self.feature_names)
        kept = tuple(self.feature_names[j] for j in at_columns)
        X = csr_array(self.X[at_rows][:, at_columns])
        X.sort_indices()
        taken = {"rows": [len(at_rows), self.X.shape[0]], "features": [len(at_columns), self.X.shape[1]]}
        steps = [*self.provenance.get("subsets", []), taken]
        return replace(
            self,
            X=X,
            y=self.y[at_rows],
            hierarchy=self.hierarchy.restrict(kept),
            feature_names=kept,
            term_names=tuple(self.term_names[j] for j in at_columns),
            instance_names=tuple(self.instance_names[i] for i in at_rows),
            provenance={**self.provenance, "subsets": steps},
            name=self.name if name is None else name,
            symbols=tuple(self.symbols[i] for i in at_rows) if self.symbols else (),
            synonyms=tuple(self.synonyms[i] for i in at_rows) if self.synonyms else (),
        )

    def as_frame(self, *, target: str | None = "class", sparse: bool = False) -> Any:
        """Return a pandas frame with a row per instance, a column per feature, and the class name in the last column.

        Parameters
        ----------
        target : str or None
            The name of the class column. With None, or for a dataset without labels, there is none.
        sparse : bool
            Whether the feature columns are sparse, which whole genomes need.

        Returns
        -------
        pandas.DataFrame
            The index contains the instance names.

        Examples
        --------
        >>> from hietan.datasets import make_hierarchical_classification
        >>> frame = make_hierarchical_classification(4, 3, random_state=0).as_frame()
        >>> list(frame.columns), frame["class"].dtype.name
        (['T:0000000', 'T:0000001', 'T:0000002', 'class'], 'category')
        """
        pd = import_optional("pandas", extra="frames", purpose="as_frame")
        index = pd.Index(self.instance_names, name="instance")
        if sparse:
            frame = pd.DataFrame.sparse.from_spmatrix(self.X, index=index, columns=self.feature_names)
        else:
            frame = pd.DataFrame(self.X.toarray(), index=index, columns=list(self.feature_names))
        if target is None or not self.is_labelled:
            return frame
        if target in self.feature_names:
            raise ValueError(
                f"a feature is already called {target!r}; choose another name for the class column"
            )
        classes = pd.Categorical.from_codes(self.y, categories=list(self.target_names))
        return frame.assign(**{target: classes})

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the dataset to a single file for `load`: a zip archive of plain arrays and JSON.

        Saving the same dataset twice gives the same bytes. If writing fails, an existing file is not changed.

        Parameters
        ----------
        path : str or path
            The file to write; its directory must exist.
        """
        write_archive(Path(path), _members(self))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Dataset:
        """Read a dataset that was written by `save`.

        Parameters
        ----------
        path : str or path
            The file to read.

        Returns
        -------
        Dataset

        Raises
        ------
        DataError
            If the file is damaged, is not a dataset, or has a later version of the format.

        Examples
        --------
        >>> import tempfile, os
        >>> from hietan.datasets import make_hierarchical_classification
        >>> data = make_hierarchical_classification(100, 50, random_state=0)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     data.save(os.path.join(folder, "made.hietan"))
        ...     again = Dataset.load(os.path.join(folder, "made.hietan"))
        >>> again.hierarchy == data.hierarchy, (again.X != data.X).nnz
        (True, 0)
        """
        name = os.fspath(path)
        refuse_special(path)
        with open(path, "rb") as file:
            try:
                return cls(**_parts(ArchiveReader(file), name))
            except DataError:
                raise
            except (
                Exception
            ) as error:  # any damage: a broken archive, a missing member, parts that do not fit
                reason = str(error) or type(error).__name__
                raise DataError(
                    f"this is not a hietan dataset, or it is damaged ({reason}); build or download it again",
                    name,
                ) from error

    def __repr__(self) -> str:
        about = self.summary()
        classes = ", ".join(f"{name} {count}" for name, count in about.classes) or "no labels"
        return (
            f"<Dataset {about.name}: {about.n_rows} rows x {about.n_features} features; {classes}; "
            f"{about.density:.2%} ones; {self.hierarchy}>"
        )

    def _repr_html_(self) -> str:
        return dataset_html(self.summary())


def _positions(what: str, chosen: Any, names: tuple[str, ...]) -> NDArray[np.intp]:
    """Return the positions of rows or features chosen by name, position, slice or mask."""
    everything = np.arange(len(names))
    if chosen is None or isinstance(chosen, slice):
        return everything if chosen is None else everything[chosen]
    if isinstance(chosen, str) or not isinstance(chosen, Iterable):
        raise TypeError(f"{what} must be names, positions, a slice or a mask, got {chosen!r}")
    listed = np.asarray(chosen if isinstance(chosen, np.ndarray) else list(chosen))
    if listed.size == 0:
        return everything[:0]
    if listed.dtype.kind in "UO":
        index = {name: i for i, name in enumerate(names)}
        unknown = [name for name in listed.tolist() if name not in index]
        if unknown:
            raise ValueError(
                f"{what} contains {unknown[0]!r}, which is not in this dataset; use names such as "
                f"{', '.join(map(repr, names[:3]))}"
            )
        return np.array([index[name] for name in listed.tolist()])
    try:
        found: NDArray[np.intp] = everything[listed]
    except IndexError as error:
        raise ValueError(
            f"{what} must be names, positions below {len(names)}, or a mask of that length ({error})"
        ) from None
    return found


def _check_names(attribute: str, names: Any) -> tuple[str, ...]:
    """Return the names as a tuple of strings; raise TypeError for anything else."""
    if isinstance(names, str) or not all(isinstance(name, str) for name in names):
        raise TypeError(f"{attribute} must be a sequence of strings, got {names!r:.80}")
    listed = tuple(names)
    try:
        "".join(listed).encode()
    except UnicodeEncodeError:
        wrong = next(name for name in listed if any("\ud800" <= letter <= "\udfff" for letter in name))
        raise ValueError(
            f"{attribute} contains {wrong!a:.80}, which contains half of a surrogate pair and cannot be written "
            "as UTF-8; read the file with the right encoding, or change the name"
        ) from None
    return listed


def _check_matrix(X: Any) -> None:
    """Raise an error unless X is a sparse matrix of 0 and 1."""
    if not isinstance(X, csr_array) or X.dtype != np.uint8 or X.ndim != 2:
        got = f"{type(X).__name__} of {getattr(X, 'dtype', 'no dtype')}"
        raise TypeError(f"X must be a two-dimensional scipy csr_array of uint8, got {got}")
    if X.nnz and X.data.max() > 1:
        raise ValueError(f"X must contain only 0 and 1, but contains {X.data.max()}")
    if not X.has_canonical_format:  # not sorted, or with repeated columns
        distinct = X.copy()
        distinct.sum_duplicates()
        if distinct.nnz < X.nnz:
            raise ValueError(
                f"X must store each column of a row once, but {X.nnz - distinct.nnz} of its entries are "
                "duplicates; remove them"
            )


def _check_target(y: Any, n_rows: int, n_classes: int) -> None:
    """Raise an error unless each row's class is an index into the class names."""
    if not isinstance(y, np.ndarray) or y.dtype.kind not in "iu" or y.ndim != 1:
        got = f"{type(y).__name__} of {getattr(y, 'dtype', 'no dtype')}"
        raise TypeError(f"y must be a one-dimensional integer ndarray, got {got}")
    if len(y) != n_rows:
        raise ValueError(f"y has {len(y)} entries but X has {n_rows} rows; pass one entry per row")
    if n_classes == 0:
        if n_rows and (y != -1).any():
            raise ValueError("y must be -1 for all rows if there are no target_names")
        return
    if n_rows and not (y.min() >= 0 and y.max() < n_classes):
        raise ValueError(
            f"y must contain positions in target_names, from 0 to {n_classes - 1}, but contains values from "
            f"{y.min()} to {y.max()}"
        )


def _check_hierarchy(hierarchy: Any, feature_names: tuple[str, ...]) -> None:
    """Raise an error if the hierarchy and the columns have different features."""
    if not isinstance(hierarchy, Hierarchy):
        raise TypeError(f"hierarchy must be a Hierarchy, got {type(hierarchy).__name__}")
    if hierarchy.features != feature_names:
        raise ValueError(
            f"the hierarchy's {len(hierarchy)} features must be the {len(feature_names)} feature_names in the "
            "same order; use hierarchy.restrict(feature_names)"
        )


def _members(data: Dataset) -> dict[str, bytes | NDArray[np.int64]]:
    X = data.X
    if not X.has_sorted_indices or not X.data.all():
        X = X.copy()
        X.eliminate_zeros()
        X.sort_indices()
    edges = data.hierarchy.adjacency.tocoo()
    about = {"format": FORMAT, "version": VERSION, "shape": [int(n) for n in X.shape], "name": data.name}
    if data.row_noun != "row":
        about["row_noun"] = data.row_noun
    if data.positive:
        about["positive"] = data.positive
    names: dict[str, list[Any]] = {
        "feature_names": list(data.feature_names),
        "term_names": list(data.term_names),
        "instance_names": list(data.instance_names),
        "target_names": list(data.target_names),
    }
    if data.symbols:
        names["symbols"] = list(data.symbols)
    if data.synonyms:
        names["synonyms"] = list(map(list, data.synonyms))
    return {
        "about.json": _json(about),
        "names.json": _json(names),
        "provenance.json": _json(data.provenance),
        "indptr.npy": _integers_to_write(X.indptr),
        "indices.npy": _integers_to_write(X.indices),
        "y.npy": _integers_to_write(data.y),
        "edges.npy": _integers_to_write(np.stack([edges.row, edges.col])),
    }


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, indent=1).encode("utf-8", "surrogatepass")


def _integers_to_write(array: NDArray[Any]) -> NDArray[np.int64]:
    return np.ascontiguousarray(array, dtype="<i8")


def _parts(archive: ArchiveReader, name: str) -> dict[str, Any]:
    """Read a dataset's parts from the file with this name. `Dataset` checks that they are consistent."""
    about = archive.read_json("about.json")
    if not isinstance(about, dict) or about.get("format") != FORMAT:
        raise DataError(
            f"this is not a hietan dataset, because its format is not {FORMAT!r}; write one with `hietan build` "
            "or Dataset.save",
            name,
        )
    if about.get("version") != VERSION:
        raise DataError(
            f"the file uses format version {about.get('version')}, but this version of hietan reads format "
            f"version {VERSION}; try a newer version of hietan",
            name,
        )
    names, provenance = archive.read_json("names.json"), archive.read_json("provenance.json")
    features, instances = names["feature_names"], names["instance_names"]
    if not all(isinstance(listed, list) for listed in names.values()):
        raise ValueError("names.json should contain lists of names, but contains other values")
    if about["shape"] != [len(instances), len(features)]:
        raise ValueError(
            f"the stored shape is {about['shape']}; expected [{len(instances)}, {len(features)}], the numbers "
            "of row and feature names"
        )
    if not isinstance(about["name"], str) or not isinstance(provenance, dict):
        raise ValueError(
            f"the dataset name is a {type(about['name']).__name__} and the provenance a "
            f"{type(provenance).__name__}; expected a str and a dict"
        )
    edges = _integers(archive, "edges.npy")
    if edges.ndim != 2 or len(edges) != 2:
        raise ValueError(f"edges.npy should have two rows, but has the shape {edges.shape}")
    return {
        "X": _matrix(archive, len(instances), len(features)),
        "y": _integers(archive, "y.npy").astype(np.intp),
        "hierarchy": rebuild(features, *edges),
        "feature_names": tuple(features),
        "term_names": tuple(names["term_names"]),
        "instance_names": tuple(instances),
        "target_names": tuple(names["target_names"]),
        "provenance": provenance,
        "name": about["name"],
        "symbols": tuple(names.get("symbols", ())),
        "synonyms": tuple(names.get("synonyms", ())),
        "row_noun": about.get("row_noun", "row"),
        "positive": about.get("positive", ""),
    }


def _matrix(archive: ArchiveReader, n_rows: int, n_columns: int) -> csr_array:
    """Return each row's ones. They are checked in the file's integer type before conversion to a smaller type."""
    indptr = _integers(archive, "indptr.npy")
    if indptr.shape != (n_rows + 1,) or not 0 <= indptr[-1] <= n_rows * n_columns:
        raise ValueError(
            f"indptr.npy should contain {n_rows + 1} positions of at most {n_rows * n_columns}, but contains "
            f"{indptr.tolist()!r:.80}"
        )
    indices = _integers(archive, "indices.npy", expected=8 * int(indptr[-1]))
    if indices.shape != (indptr[-1],):
        raise ValueError(f"indices.npy should have {indptr[-1]} entries, but has the shape {indices.shape}")
    ones = np.ones(len(indices), dtype=np.uint8)
    X: csr_array = csr_array((ones, indices, indptr), shape=(n_rows, n_columns))
    X.check_format(full_check=True)
    index = np.int32 if indices.size <= np.iinfo(np.int32).max else np.int64
    return csr_array((ones, indices.astype(index), indptr.astype(index)), shape=X.shape)


def _integers(archive: ArchiveReader, member: str, *, expected: int = 0) -> NDArray[np.int64]:
    array: NDArray[np.int64] = archive.read_array(member, expected=expected)
    if array.dtype != np.int64:
        raise ValueError(f"{member} should contain 64-bit integers, but contains {array.dtype}")
    return array
