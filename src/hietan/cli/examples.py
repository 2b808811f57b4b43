"""Examples of every command, which end its help. A backslash breaks a line, so that each fits in 80 columns."""

from __future__ import annotations

import typer

EXAMPLES = {
    "demo": """
hietan demo
hietan demo --data fly-BP --report out/report.html
""",
    "datasets": """
hietan datasets
hietan info worm-BP
hietan fit worm-BP -o model.hietan
""",
    "build": r"""
hietan build --edges edges.csv --pairs items.csv --labels labels.csv \
    -o shop.hietan
hietan build --ontology go.obo --annotations wb.gaf.gz --labels genes.csv \
    --namespaces BP --drop-term GO:0008340 -o worm.hietan
hietan build --ontology go.obo --annotations wb.gaf.gz --namespaces BP \
    --features-of worm.hietan -o genome.hietan
""",
    "info": """
hietan info worm-BP
hietan info model.hietan
""",
    "fetch": """
hietan fetch gene-ontology
hietan fetch annotations-worm --data-home data
""",
    "study": r"""
hietan study --data worm-BP --methods paper -o study
hietan study --data shop.hietan --methods ours --methods tan:alpha=0.5 \
    --folds 5 --seeds 3 --jobs 2 -o study
hietan study study.toml --jobs 2
""",
    "compare": """
hietan compare study --control tan --scores
hietan compare study --metric auc --rope 0.02
""",
    "report": r"""
hietan report study -o report.html
hietan report study \
    --term-url "ICD=https://icd.who.int/browse10/2019/en#/{id}"
""",
    "explain": """
hietan explain model.hietan worm-BP --row daf-16
hietan explain model.hietan worm-BP --row daf-16 --trace --limit 5
""",
    "fit": """
hietan fit worm-BP -o model.hietan
hietan fit worm-BP -m hie-tan-lite --smoothing pooled -o model.hietan
hietan fit shop.hietan -m hip-nb --threshold gmean
""",
    "methods": """
hietan methods
""",
    "predict": r"""
hietan predict model.hietan genome.hietan -o ranked.csv --report
hietan predict model.hietan genome.hietan --new-only \
    --exclude genes.csv --exclude-column symbol
""",
    "filter": r"""
hietan filter result.csv --hierarchy go-basic.obo
hietan filter result.csv --hierarchy go-basic.obo --column ID \
    --keep relevant --score p.adjust -o filtered.csv
""",
}


def add_examples(app: typer.Typer) -> None:
    """End the help of every command of an application with its examples."""
    for command in app.registered_commands:
        name = command.name or str(getattr(command.callback, "__name__", ""))
        lines = ["Examples:", *EXAMPLES[name].strip().splitlines()]
        command.epilog = "\b\n" + "\n  ".join(lines)  # \b: these lines are not filled
