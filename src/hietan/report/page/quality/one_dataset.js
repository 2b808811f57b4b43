// How good the methods are on one dataset: its classes, each score with its sampling error, and paired differences.
const SHOWN_SCORES = ["auc", "average_precision", "gmean", "sensitivity", "specificity"];

function datasetSection(dataset) {
  const { quality } = dataset;
  return [
    dataCard(dataset),
    quality ? [scoreCard(dataset), curveCards(dataset), pairsCard(dataset)] : plainScores(dataset),
  ];
}

// With several datasets, one is shown at a time.
function datasetSections() {
  const known = datasets.map((d, i) => [i, d]).filter(([, d]) => d.quality);
  if (datasets.length === 1) return datasetSection(datasets[0]);
  if (!known.length) return null;
  const options = known.map(([i, d]) => [i, d.name]);
  return el(
    "section",
    { "aria-label": "One dataset" },
    el("h2", { class: "part-title" }, "One dataset at a time"),
    drawnByChoice(selectField, "Dataset to show", options, (i) => datasetSection(datasets[i])),
  );
}

// Contributions favour the second of two classes; colours match the explanations.
const classColour = (dataset, k) => (dataset.classes.length === 2 ? ["var(--anti)", "var(--pro)"][k] : curveColour(k));

const classCounts = (dataset) => dataset.classes.map((_, k) => dataset.truth.filter((t) => t === k).length);

function dataCard(dataset) {
  const counts = classCounts(dataset);
  const n = dataset.genes.length;
  const part = (k) => {
    const style = { width: `${(100 * counts[k]) / n}%`, background: classColour(dataset, k) };
    return el("span", { style });
  };
  const name = (label, k) =>
    legendItem({ r: 6, fill: classColour(dataset, k) }, [
      bdi(label),
      `: ${count(counts[k])} (${percent(counts[k] / n)}%)`,
    ]);
  return card(
    ["The data: ", bdi(dataset.name)],
    el(
      "p",
      {},
      `${plural(n, "row")}, ${plural(dataset.features.length, "feature")}, ${dataset.classes.length} classes.`,
    ),
    el(
      "div",
      { class: "balance", "aria-hidden": "true" },
      dataset.classes.map((_, k) => part(k)),
    ),
    legend(dataset.classes.map(name)),
    dataset.equal_rows &&
      note(
        "Identical rows: ",
        equalRows(dataset),
        ". ",
        about.equal_rows === "not-tested" && dataset.equal_rows.pairs > 0 && "They are not tested.",
      ),
    dataset.equal_rows?.warning && caution(dataset.equal_rows.warning, "."),
    Object.keys(dataset.account ?? {}).length > 0 && lossesTable(dataset),
  );
}

// Records read, dropped and used when the dataset was built.
function lossesTable(dataset) {
  const lines = Object.entries(dataset.account).flatMap(([what, { read, used, dropped, changed }]) => [
    [what, "read", read],
    ...Object.entries(dropped ?? {}).map(([why, n]) => ["", `dropped: ${why}`, n]),
    ...Object.entries(changed ?? {}).map(([how, n]) => ["", `used, but: ${how}`, n]),
    ["", "used", used],
  ]);
  const row = ([what, line, n]) =>
    el("tr", { class: line === "used" && "total" }, rowHead(bdi(what)), el("td", {}, bdi(line)), numberCell(count(n)));
  const heads = [columnHead("kind"), columnHead("what happened"), numberHead("number")];
  const kinds = Object.entries(dataset.account).map(
    ([what, { read, used }]) => `${count(used)} of ${count(read)} ${what} used`,
  );
  return [
    note("When the dataset was built: ", kinds.join("; "), "."),
    details(
      {},
      "What was dropped when the dataset was built",
      scrollRegion("What was dropped", table({ class: "losses" }, heads, lines.map(row))),
      csvButton("losses " + dataset.name, () => [["kind", "what happened", "number"], lines]),
    ),
  ];
}

// Chance level: 0.5, or the share of the second class for precision.
const chanceOf = (dataset, score) => (score === "average_precision" ? dataset.quality.positive_share : 0.5);

function scoreCard(dataset) {
  const scores = (m) => dataset.quality.methods[m].scores;
  const column = (score) =>
    numberColumn(metricOf(score).label, {
      value: (m) => scores(m)[score][0],
      written: (_, m) => scoreCell(dataset, score, scores(m)[score]),
    });
  const columns = [methodColumn(), ...SHOWN_SCORES.map(column)];
  const best = new SortedTable(`scores ${dataset.name}`, columns, { className: "quality", column: 1 });
  best.setRows(Object.keys(dataset.quality.methods).map(Number));
  return best.card(
    "How good the methods are",
    note(
      "Bars show 95% bootstrap intervals on a scale from 0 to 1. The thin line marks chance level. Sensitivity is the ",
      `fraction of ${rowNouns} of class `,
      bdi(dataset.classes[1]),
      " that are predicted correctly; specificity, the fraction for ",
      bdi(dataset.classes[0]),
      ". GMean is their geometric mean, which is high only if both are high",
      about.seeds.length > 1 && ". Values are means over the seeds",
      ".",
    ),
  );
}

function scoreCell(dataset, score, [value, low, high]) {
  return [
    el("strong", {}, inMetric(value)),
    el("span", { class: "sub" }, `${inMetric(low)}–${inMetric(high)}`),
    rangeBar([value, low, high], chanceOf(dataset, score)),
  ];
}

function pairsCard(dataset) {
  const { pairs } = dataset.quality;
  const known = Object.keys(pairs).filter((score) => pairs[score].length);
  if (!known.length) return null;
  const contents = () => [
    ["score", "method", "compared with", "difference", "low", "high", "share of draws above"],
    known.flatMap((s) => pairs[s].map(([m, best, ...rest]) => [s, methods[m].name, methods[best].name, ...rest])),
  ];
  const options = known.map((score) => [score, metricOf(score).label]);
  return cardWithTools(
    "Differences between methods",
    csvButton("differences " + dataset.name, contents),
    drawnByChoice(switchButtons, "Metric of the differences", options, (score) => pairsTable(pairs[score], score)),
    note(
      "Differences are each method's score minus the best method's score, in the same bootstrap draws. ",
      "If the interval excludes zero, the two methods probably differ. ",
      "An interval that only just excludes zero is weak evidence, because the best method was chosen on the same rows ",
      "and several methods are compared with it. ",
      "The last column is the share of bootstrap draws in which the method beats the best method.",
    ),
  );
}

function pairsTable(rows, score) {
  const { label } = metricOf(score);
  const written = (x) => signed(x, 3);
  const widest = Math.max(...rows.flatMap(([, , , low, high]) => [Math.abs(low), Math.abs(high)]), 1e-9);
  const place = (x) => 0.5 + (0.5 * x) / widest;
  const best = shorten(methods[rows[0][1]].name, 24);
  const columns = [
    methodColumn(([m]) => m),
    numberColumn(`${label} minus ${label} of ${best}`, {
      value: (row) => row[2],
      written: (x, row) => [written(x), el("span", { class: "sub" }, `${written(row[3])} to ${written(row[4])}`)],
    }),
    numberColumn(`from ${written(-widest)} to ${written(widest)}`, {
      value: (row) => row[4],
      written: (_, row) => rangeBar(row.slice(2, 5).map(place), 0.5),
      hint: "95% interval for the difference, sorted by its upper end",
    }),
    numberColumn("better in", { value: (row) => row[5], written: (share) => `${percent(share)}%` }),
  ];
  return new SortedTable("Differences between methods", columns, { className: "pairs", column: 1 })
    .setRows(rows)
    .elements();
}

// An estimate with its interval, on a scale from 0 to 1, with a line.
function rangeBar([value, low, high], line) {
  const interval = ["interval", low, high - low];
  return bar([interval, ["at", value, 0]], line);
}

// Without curves (more than two classes): the scores of the rankings, without ranks.
function plainScores(dataset) {
  const metrics = [...new Set(report.rankings.map((r) => r.metric))];
  const found = new Map();
  for (const ranking of report.rankings) {
    const d = ranking.datasets.indexOf(dataset.name);
    if (d < 0) continue;
    ranking.methods.forEach((method, k) => {
      found.set(method, { ...found.get(method), [ranking.metric]: ranking.scores[d][k] });
    });
  }
  const column = (metric) =>
    numberColumn(metricOf(metric).label, {
      value: (m) => found.get(m)[metric] ?? null,
      written: inMetric,
    });
  const columns = [methodColumn(), ...metrics.map(column)];
  const scores = new SortedTable(`scores ${dataset.name}`, columns, { className: "ranking", column: 1 });
  return scores.setRows([...found.keys()]).card("How good the methods are");
}
