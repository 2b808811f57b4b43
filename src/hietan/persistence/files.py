"""The file of a model: written whole or not at all, read with nothing taken on trust."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import sklearn
from sklearn.utils.validation import check_is_fitted

from hietan._io import ArchiveReader, write_archive
from hietan.exceptions import ModelFileError
from hietan.persistence._checks import require
from hietan.persistence._estimators import kind_of, put_together, take_apart
from hietan.persistence._values import Reader, Writer, check_nesting

# The archive names its format; files of a version that is not known are refused. Version 1 holds a classifier of this
# package; version 2 a list of estimators, each of which may refer to those before it. The last one is the model.
FORMAT, VERSIONS = "hietan model", (1, 2)


def save(
    model: Any,
    path: str | os.PathLike[str],
    *,
    metadata: Mapping[str, Any] | None = None,
    compressed: bool = False,
) -> None:
    """Write a fitted model to a file, which `load` reads back.

    Parameters
    ----------
    model : classifier
        A fitted classifier of this package, alone or within `MinSupport`, `SelectedColumns` or one of scikit-learn's
        `CalibratedClassifierCV`, `FixedThresholdClassifier`, `TunedThresholdClassifierCV`, `FrozenEstimator` and
        `Pipeline`. The steps of a pipeline before its classifier may be `GTD`, `SHSEL`, `TSEL`, `Binarizer`,
        `MaxAbsScaler`, `SelectKBest`, `VarianceThreshold` and "passthrough". Of a search such as `GridSearchCV`, save
        the `best_estimator_`.
    path : path
        The file to write. It is written completely or not at all.
    metadata : mapping or None, default None
        Plain values to keep in the file; `read_metadata` returns them.
    compressed : bool, default False
        Whether to compress the arrays. The file is then several times smaller, and takes many times longer to write.

    Raises
    ------
    TypeError
        If the model is not one of these, or has a parameter that cannot be stored without pickle.
    ModelFileError
        If `load` would refuse the file: a classifier that learns trees has seen more than 2^26 rows of a class, or
        the parts of the model do not fit together.

    Examples
    --------
    >>> import tempfile, hietan
    >>> from hietan.datasets import make_hierarchical_classification
    >>> data = make_hierarchical_classification(100, 30, random_state=0)
    >>> model = hietan.HieTANLite(hierarchy=data.hierarchy, random_state=0).fit(data.X, data.y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     hietan.save(model, f"{folder}/model.hietan")
    ...     again = hietan.load(f"{folder}/model.hietan")
    >>> bool((again.predict_proba(data.X) == model.predict_proba(data.X)).all())
    True
    """
    kind = kind_of(model)
    check_is_fitted(model)
    require(kind.is_classifier, f"{type(model).__name__} is only stored as a step of a pipeline")
    writer = Writer(take_apart)
    writer.encode(model)
    check_nesting(writer.estimators)
    about: dict[str, Any] = {"format": FORMAT, "version": 1}
    if len(writer.estimators) == 1:
        about |= writer.estimators[0]
    else:
        about |= {"version": 2, "scikit-learn": sklearn.__version__, "estimators": writer.estimators}
    about["metadata"] = dict(metadata or {})
    writer.members["about.json"] = json.dumps(about).encode()
    write_archive(Path(path), writer.members, compressed=compressed)


def load(path: str | os.PathLike[str]) -> Any:
    """Read a model that `save` wrote. Nothing in the file is run, and all of it is checked.

    Parameters
    ----------
    path : path
        The file to read.

    Returns
    -------
    classifier
        A fitted classifier that predicts the same as the one that was saved.

    Raises
    ------
    ModelFileError
        If the file is not a model, or is damaged, inconsistent or of a later version.
    """
    with _open(path) as archive:
        about, reader = _read_about(archive), Reader(archive)
        nodes = about["estimators"] if about["version"] == 2 else [{**about, "metadata": None}]
        require(isinstance(nodes, list) and bool(nodes), "there is no list of estimators")
        check_nesting(nodes)
        try:
            for node in nodes:
                reader.estimators.append(put_together(node, reader))
            model = reader.estimators[-1]
            check_is_fitted(model)
            require(kind_of(model).is_classifier, f"{type(model).__name__} is not a classifier")
        except Exception as error:
            raise _with_versions(error, about) from error
        return model


def read_metadata(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The metadata that `save` was given with a model; empty if there were none.

    Raises
    ------
    ModelFileError
        If the file is not a model, or is damaged or of a later version.
    """
    with _open(path) as archive:
        metadata = _read_about(archive).get("metadata")
        return dict(metadata) if isinstance(metadata, dict) else {}


def is_model(path: str | os.PathLike[str]) -> bool:
    """Whether a file says that it is a model of this package; `load` says whether it is a sound one."""
    try:
        with open(path, "rb") as file:
            return bool(ArchiveReader(file).read_json("about.json")["format"] == FORMAT)
    except Exception:  # whatever else the file is
        return False


def _with_versions(error: Exception, about: Mapping[str, Any]) -> Exception:
    """The error, as one that names the versions of scikit-learn if they may be the reason."""
    written = about.get("scikit-learn", sklearn.__version__)
    if written == sklearn.__version__:
        return error
    text = (
        str(error) if isinstance(error, ModelFileError) else f"the parts do not fit together: {error!r:.200}"
    )
    return ModelFileError(
        f"{text}; it was written with scikit-learn {written!r:.80}, and this is {sklearn.__version__}"
    )


@contextmanager
def _open(path: str | os.PathLike[str]) -> Iterator[ArchiveReader]:
    """The archive of a model; whatever goes wrong with its content is a ModelFileError that names the file."""
    name = os.fspath(path)
    with open(path, "rb") as file:
        try:
            archive = ArchiveReader(file)
        except Exception as error:
            raise ModelFileError(f"{name} is not a hietan model, or it is damaged: {error}") from None
        try:
            yield archive
        except ModelFileError as error:
            raise ModelFileError(f"{name}: {error}") from None
        # zipfile, json and numpy raise all kinds for damaged content, MemoryError included
        except Exception as error:
            raise ModelFileError(f"{name}: the parts do not fit together: {error!r:.200}") from error


def _read_about(archive: ArchiveReader) -> dict[str, Any]:
    try:
        about = archive.read_json("about.json")
        is_ours = about["format"] == FORMAT
        version = about["version"]
    except Exception as error:
        raise ModelFileError(
            f"this is not a hietan model: hietan.save did not write it ({error!r:.200})"
        ) from None
    if not is_ours:
        raise ModelFileError("this is not a hietan model: hietan.save did not write it")
    if type(version) is not int or version not in VERSIONS:
        raise ModelFileError(
            f"the file has version {version!r:.80} of the format; this version of hietan reads "
            f"{' and '.join(map(str, VERSIONS))}"
        )
    return dict(about)
