// How good the methods are on one dataset: its classes, every score with its sampling error, and paired differences.
const SHOWN_SCORES = ["gmean", "sensitivity", "specificity", "auc", "average_precision"];

function datasetSection(dataset) {
  const { quality } = dataset;
  return [
    dataCard(dataset),
    quality ? [scoreCard(dataset), curveCards(dataset), pairsCard(dataset)] : plainScores(dataset),
  ];
}

// With several datasets, one is looked at after the other.
function datasetSections() {
  const known = datasets.map((d, i) => [i, d]).filter(([, d]) => d.quality);
  if (datasets.length === 1) return datasetSection(datasets[0]);
  if (!known.length) return null;
  const options = known.map(([i, d]) => [i, d.name]);
  return el(
    "section",
    { "aria-label": "One dataset" },
    el("h2", { class: "part-title" }, "One dataset after the other"),
    drawnByChoice(selectField, "Look at", options, (i) => datasetSection(datasets[i])),
  );
}

// Of two classes, the second is what evidence speaks for, in the colours that explanations have.
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
        "Equal rows: ",
        equalRows(dataset),
        ". ",
        about.equal_rows === "not-tested" && dataset.equal_rows.pairs > 0 && "They are not tested.",
      ),
    dataset.equal_rows?.warning && caution(dataset.equal_rows.warning, "."),
    Object.keys(dataset.account ?? {}).length > 0 && lossesTable(dataset),
  );
}

// What was read, dropped and used when the dataset was built.
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
      "What was lost when the dataset was built",
      scrollRegion("Losses", table({ class: "losses" }, heads, lines.map(row))),
      csvButton("losses " + dataset.name, () => [["kind", "what happened", "number"], lines]),
    ),
  ];
}

// What a coin would reach: 0.5, or the share of the second class for precision.
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
      "The bar is the 95% interval of a bootstrap over rows, on a scale from 0 to 1; the thin line is what chance ",
      "reaches. Sensitivity is the share of ",
      bdi(dataset.classes[1]),
      " that is found, specificity that of ",
      bdi(dataset.classes[0]),
      ", GMean their geometric mean in %",
      about.seeds.length > 1 && "; means over the seeds",
      ".",
    ),
  );
}

function scoreCell(dataset, score, [value, low, high]) {
  return [
    el("strong", {}, inMetric(value, score)),
    el("span", { class: "sub" }, `${inMetric(low, score)}–${inMetric(high, score)}`),
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
    drawnByChoice(switchButtons, "Score of the differences", options, (score) => pairsTable(pairs[score], score)),
    note(
      "Each method minus the best one, on the same draws of rows. An interval that does not reach the line of zero ",
      "speaks for a difference. The best one was found on these same rows, and several are compared with it: an ",
      "interval that only just misses zero is a hint, no more. The last column is the share of draws in which the ",
      "method is the better of the two.",
    ),
  );
}

function pairsTable(rows, score) {
  const { scale, digits, label } = metricOf(score);
  const written = (x) => signed(scale * x, digits);
  const widest = Math.max(...rows.flatMap(([, , , low, high]) => [Math.abs(low), Math.abs(high)]), 1e-9);
  const place = (x) => 0.5 + (0.5 * x) / widest;
  const best = shorten(methods[rows[0][1]].name, 24);
  const columns = [
    methodColumn(([m]) => m),
    numberColumn(`${label} minus that of ${best}`, {
      value: (row) => row[2],
      written: (x, row) => [written(x), el("span", { class: "sub" }, `${written(row[3])} to ${written(row[4])}`)],
    }),
    numberColumn(`from ${written(-widest)} to ${written(widest)}`, {
      value: (row) => row[4],
      written: (_, row) => rangeBar(row.slice(2, 5).map(place), 0.5),
      hint: "The interval of the difference; sorted by its upper end",
    }),
    numberColumn("better in", { value: (row) => row[5], written: (share) => `${percent(share)}%` }),
  ];
  return new SortedTable("Differences between methods", columns, { className: "pairs", column: 1 })
    .setRows(rows)
    .elements();
}

// An estimate on its interval, on a scale from 0 to 1, with a line.
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
      written: (x) => inMetric(x, metric),
    });
  const columns = [methodColumn(), ...metrics.map(column)];
  const scores = new SortedTable(`scores ${dataset.name}`, columns, { className: "ranking", column: 1 });
  return scores.setRows([...found.keys()]).card("How good the methods are");
}
