"""Explanations of a study's rows as readable JSON."""

from __future__ import annotations

from pathlib import Path

from hietan._io.files import atomic_write, safe_file_name, to_json
from hietan.evaluation._outputs.tables import method_stem
from hietan.evaluation._study.results import StudyResults

FOLDER = "explanations"


def write_explanations(results: StudyResults, folder: Path) -> list[Path]:
    """Write `explanations/DATASET/METHOD.json` for every method with explanations: the strongest contributions."""
    written = []
    for (dataset, key), folds in results.explained.items():
        names = results.study.view(dataset).instance_names
        scores = results.predictions.get((dataset, key, results.study.seeds[0]))
        if scores is None:
            continue
        labels = list(results.study.class_names[dataset])
        readable = {i: each for part in folds for i, each in part.readable.items()}
        entries = [
            {
                "instance": names[i],
                "why": why,
                "fold": int(scores.fold[i]),
                "y_true": labels[scores.truth[i]],
                **readable[i],
            }
            for i, why in results.study.explained_rows[dataset].items()
            if i in readable
        ]
        name = f"{method_stem(results.study.methods[key])}.json"
        written.append(folder / FOLDER / safe_file_name(dataset) / name)
        atomic_write(written[-1], to_json(entries))
    return written
