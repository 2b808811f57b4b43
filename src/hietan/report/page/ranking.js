// Methods compared over all datasets: a table of ranks, the critical-difference diagram and all scores.
function rankingCards(ranking) {
  const order = ranking.methods.map((_, i) => i).sort((a, b) => ranking.ranks[a] - ranking.ranks[b]);
  const { label } = metricOf(ranking.metric);
  const isWide = Object.keys(ranking.group_ranks).length > 1;
  return [
    el(
      "div",
      { class: isWide ? "" : "grid ranks" },
      rankingTable(ranking, order).card("Ranking by " + label, rankingNote(ranking)),
      ranking.critical_difference !== null && criticalDifferenceCard(ranking, order),
    ),
    ranking.effects && effectsCard(ranking),
    cardWithTools(
      `${label} by dataset and method`,
      csvButton(label + " by dataset and method", () => [
        ["dataset", ...order.map((i) => methods[ranking.methods[i]].name)],
        ranking.datasets.map((dataset, d) => [dataset, ...order.map((i) => ranking.scores[d][i])]),
      ]),
      heatMap(ranking, order),
    ),
  ];
}

function rankingTable(ranking, order) {
  const adjusted = new Map(ranking.holm.map(([method, , p]) => [method, p]));
  const written = (x) => inMetric(x);
  const rank = (x) => x.toFixed(2);
  const columns = [
    methodColumn((i) => ranking.methods[i]),
    numberColumn("average rank", { value: (i) => ranking.ranks[i], written: rank }),
    numberColumn("wins", { value: (i) => ranking.wins[i] }),
    numberColumn("mean", { value: (i) => ranking.means[i], written: written }),
  ];
  if (ranking.intervals.length) {
    const interval = (_, i) => ranking.intervals[i].map(written).join("–");
    columns.push(numberColumn("95% interval", { value: (i) => ranking.intervals[i][0], written: interval }));
  }
  if (ranking.holm.length) {
    const holm = (i) => adjusted.get(ranking.methods[i]) ?? null;
    columns.push({
      ...numberColumn("p (Holm)", { value: holm }),
      cell: (i) => (holm(i) === null ? "best" : pValue(holm(i))),
    });
  }
  for (const [group, ranks] of Object.entries(ranking.group_ranks)) {
    columns.push(numberColumn(group, { value: (i) => ranks[i], written: rank }));
  }
  const options = { className: "ranking", column: 1, descending: false };
  return new SortedTable("Ranking by " + metricOf(ranking.metric).label, columns, options).setRows(order);
}

function rankingNote(ranking) {
  const written = ([chiSquared, p]) => `chi-squared = ${chiSquared.toFixed(2)}, p = ${pValue(p)}`;
  return note(
    "Rank 1 is best. ",
    ranking.holm.length > 0 && "p is for a two-sided comparison with the best method, adjusted by Holm's procedure. ",
    ranking.intervals.length > 0 &&
      "95% intervals come from a bootstrap, which draws rows together for all datasets in a group. ",
    Object.keys(ranking.group_ranks).length > 0 &&
      "The columns on the right show average ranks within each group of datasets. ",
    ranking.friedman && `Friedman's test: ${written(ranking.friedman)}`,
    ranking.friedman &&
      (ranking.friedman_corrected ? `; corrected for ties: ${written(ranking.friedman_corrected)}. ` : ". "),
    cautionsOf(ranking),
    ranking.left_out.length > 0 && [
      "Left out because of missing results: ",
      joined(ranking.left_out.map((method) => bdi(method))),
      ".",
    ],
  );
}

// Why the tests are weak evidence, next to every test.
const cautionsOf = (ranking) => ranking.cautions.map((text) => [" ", el("bdi", {}, text)]);

// The size of the differences from the control.
function effectsCard(ranking) {
  const { control, rope, rows } = ranking.effects;
  const { label } = metricOf(ranking.metric);
  const written = (x) => signed(x, 4);
  const hasIntervals = rows.every(([, , low]) => low !== null);
  const interval = (_, row) => `${written(row[2])} to ${written(row[3])}`;
  const columns = [
    methodColumn(([m]) => m),
    numberColumn("difference", { value: (row) => row[1], written: written }),
    hasIntervals && numberColumn("95% interval", { value: (row) => row[2], written: interval }),
    numberColumn("rank-biserial", { value: (row) => row[4], written: (x) => signed(x) }),
    ...["P(worse)", "P(equivalent)", "P(better)"].map((title, k) =>
      numberColumn(title, { value: (row) => row[5 + k], written: (p) => probability(p) }),
    ),
  ].filter(Boolean);
  const name = methods[control].name;
  const differences = new SortedTable("Differences between methods", columns, { className: "effects", column: 1 });
  const saved = rows.map(([method, ...values]) => [methods[method].name, ...values]);
  const heads = ["method", "difference", "low", "high", "rank-biserial", "P(worse)", "P(equivalent)", "P(better)"];
  return cardWithTools(
    ["Differences from ", bdi(name)],
    csvButton(`differences from ${name}`, () => [heads, saved]),
    differences.setRows(rows).elements(),
    note(
      `The table shows means over the datasets, in ${label}. `,
      hasIntervals && "95% intervals come from a bootstrap over rows. ",
      "The rank-biserial correlation is +1 if a method is better on every dataset, and −1 if it is worse. ",
      "P comes from a Bayesian signed-rank test, in which differences up to ",
      `${+rope.toPrecision(3)} count as equivalent.`,
      cautionsOf(ranking),
    ),
  );
}

function criticalDifferenceCard(ranking, order) {
  const picture = drawnToWidth((width) => criticalDifferenceDiagram(ranking, order, Math.min(width, 720)));
  return cardWithTools(
    "Critical difference",
    svgButton("critical difference", picture),
    picture,
    note(
      "A bar joins methods whose average ranks do not differ significantly (Nemenyi's test, level 0.05). ",
      Object.keys(ranking.group_ranks).length > 0 && "The table shows the ranks within each group of datasets.",
      cautionsOf(ranking),
    ),
  );
}

// From top to bottom: the critical difference as a ruler, the axis of ranks, bars that join methods, and the names,
// with the better half on the left and the others on the right.
function criticalDifferenceDiagram(ranking, order, width) {
  const n = order.length;
  const margin = Math.min(170, width * 0.33);
  const top = 62;
  const shape = {
    top,
    width,
    margin,
    half: Math.ceil(n / 2),
    rowHeight: 24,
    firstRow: top + 22 + 12 * ranking.cliques.length,
    x: (rank) => margin + ((rank - 1) / Math.max(1, n - 1)) * (width - 2 * margin),
  };
  const height = shape.firstRow + shape.rowHeight * shape.half + 6;
  const described = order.map((i) => `${methods[ranking.methods[i]].name} ${ranking.ranks[i].toFixed(2)}`);
  const difference = ranking.critical_difference.toFixed(2);
  return svg(
    "svg",
    {
      width,
      height,
      role: "img",
      "aria-label": `Average ranks: ${described.join(", ")}. Critical difference ${difference}.`,
    },
    rankRuler(ranking, n, shape),
    cliqueBars(ranking, shape),
    order.map((i, place) => rankedMethod(ranking, i, place, n, shape)),
  );
}

const svgLine = (x1, y1, x2, y2, className) => svg("line", { x1, y1, x2, y2, class: className });

function rankRuler(ranking, n, { top, x }) {
  const end = x(1 + Math.min(ranking.critical_difference, n - 1));
  const ticks = Array.from({ length: n }, (_, i) => i + 1);
  return [
    svgLine(x(1), 26, end, 26, "axis"),
    svgLine(x(1), 21, x(1), 31, "axis"),
    svgLine(end, 21, end, 31, "axis"),
    svgText(x(1), 14, "start", `critical difference ${ranking.critical_difference.toFixed(2)}`),
    svgLine(x(1), top, x(n), top, "axis"),
    ticks.map((tick) => [svgLine(x(tick), top - 6, x(tick), top, "axis"), svgText(x(tick), top - 10, "middle", tick)]),
  ];
}

function cliqueBars(ranking, { top, x }) {
  const rankOf = new Map(ranking.methods.map((method, i) => [method, ranking.ranks[i]]));
  return ranking.cliques.map((clique, c) => {
    const y = top + 12 + 12 * c;
    return svgLine(x(rankOf.get(clique[0])) - 3, y, x(rankOf.get(clique.at(-1))) + 3, y, "clique");
  });
}

function rankedMethod(ranking, i, place, n, { top, width, margin, half, rowHeight, firstRow, x }) {
  const onLeft = place < half;
  const at = x(ranking.ranks[i]);
  const y = firstRow + rowHeight * (onLeft ? place : n - 1 - place) + 8;
  const end = onLeft ? margin - 8 : width - margin + 8;
  const fullName = methods[ranking.methods[i]].name;
  const letters = Math.max(6, Math.floor(margin / 7.2) - 5);
  const words = [shorten(fullName, letters), ranking.ranks[i].toFixed(2)];
  const text = (onLeft ? words : words.reverse()).join("  ");
  return [
    svg("path", { d: `M${at},${top}V${y}H${end}`, class: "axis" }),
    svg("circle", { cx: at, cy: top, r: 3, fill: "currentColor" }),
    svgText(onLeft ? end - 4 : end + 4, y + 4, onLeft ? "end" : "start", [svg("title", {}, fullName), text]),
  ];
}

// Scores between 0 and 1 with a chance level of 0.5: the same colour means the same in every report.
const FIXED_SCALES = new Set(["gmean", "auc", "balanced_accuracy", "sensitivity", "specificity"]);

// The colour of a score: blue above chance and red below it, or from the lowest score to the highest.
function heatScale(ranking) {
  if (FIXED_SCALES.has(ranking.metric)) return (v) => shade(v >= 0.5, Math.abs(2 * v - 1));
  const all = ranking.scores.flat().filter((v) => v !== null);
  const [low, high] = [Math.min(...all), Math.max(...all)];
  return (v) => shade(true, high > low ? (v - low) / (high - low) : 0.5);
}

const heatLegend = ({ metric }) =>
  FIXED_SCALES.has(metric) &&
  note(inMetric(0), el("span", { class: "scale" }), inMetric(1), "; no colour: chance level");

function heatMap(ranking, order) {
  const groupOf = new Map(datasets.map((d) => [d.name, d.group]));
  const colours = heatScale(ranking);
  const rows = ranking.datasets.map((dataset, d) => {
    const startsGroup = d > 0 && groupOf.get(dataset) !== groupOf.get(ranking.datasets[d - 1]);
    const cells = order.map((i) => heatCell(ranking, d, i, colours));
    return el("tr", { class: startsGroup && "first" }, rowHead(bdi(dataset, { title: dataset })), cells);
  });
  const heads = [columnHead("dataset"), order.map((i) => numberHead(bdi(methods[ranking.methods[i]].name)))];
  return [
    heatLegend(ranking),
    scrollRegion("Scores of methods on datasets", table({ class: "heat" }, heads, rows)),
    note("Bold: the best method on a dataset, unless all tie. ", "Methods are ordered by average rank, best first."),
  ];
}

function heatCell(ranking, d, i, colours) {
  const value = ranking.scores[d][i];
  const spread = ranking.spread[d][i];
  const text = inMetric(value);
  const ends = [Math.max(...ranking.scores[d]), Math.min(...ranking.scores[d])];
  const [best, worst] = metricOf(ranking.metric).lower_is_better ? ends.reverse() : ends;
  const isBest = value === best && best !== worst;
  return el(
    "td",
    {
      ...(value === null ? {} : colours(value)),
      title: spread === null ? null : `± ${inMetric(spread)} across seeds`,
    },
    isBest ? el("span", { class: "best" }, text) : text,
  );
}
