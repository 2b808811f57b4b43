// Candidates: the models that rank them, their quality, and the list of rows.
function candidatesIntro(browser) {
  return card(
    "In short",
    report.lists && statedLists(report.lists, browser),
    el("p", {}, el("bdi", {}, report.verdict)),
    caution(el("bdi", {}, about.caution)),
    note(el("bdi", {}, about.model)),
    about.unlabelled && note(el("bdi", {}, about.unlabelled)),
    report.quality &&
      (about.unlabelled
        ? [studyBias(report.quality), modelQuality(report.quality)]
        : [modelQuality(report.quality), studyBias(report.quality)]),
    report.branches && commonBranches(report.branches),
  );
}

// The list at a false discovery rate, and a slider for the rate; its rows are marked in the ranking.
function statedLists({ first, lines, limits, rates, note: meaning }, browser) {
  const line = el("strong", { role: "status" });
  const show = (k) => {
    setContent(line, el("bdi", {}, capitalised(lines[k])), ".");
    browser.change({ limit: limits[k], rate: rates[k] });
  };
  const slider = el("input", { type: "range", min: 0, max: lines.length - 1, value: first });
  slider.addEventListener("input", () => show(Number(slider.value)));
  show(first);
  return [
    el("p", {}, line),
    lines.length > 1 && labelled("False discovery rate", slider),
    note(el("bdi", {}, meaning)),
  ];
}

// The branches of the hierarchy that the first rows of the list have in common, next to the last rows.
function commonBranches({ rows: [n, last], columns, means, above }) {
  const [dataset] = datasets;
  const [firstMeans, lastMeans] = means;
  const name = (column) => (column < 0 ? "the rest" : linkedTerm(dataset, column));
  const cells = (k) => [
    numberCell(signed(firstMeans[k])),
    lastMeans && numberCell(signed(lastMeans[k])),
    numberCell(k ? `${above[k - 1]} of ${n}` : ""),
  ];
  const total = (amounts) => numberCell(el("strong", {}, signed(sumOf(amounts))));
  const rows = [
    tableRow(rowHead("base value"), cells(0)),
    ...columns.map((column, k) => tableRow(rowHead(name(column)), cells(k + 1))),
    tableRow(rowHead(el("strong", {}, "log-odds")), total(firstMeans), lastMeans && total(lastMeans), numberCell()),
  ];
  const heads = [
    columnHead("branch"),
    numberHead(`first ${count(n)}, mean`),
    lastMeans && numberHead(`last ${count(last)}, mean`),
    numberHead("above 0"),
  ];
  return details(
    { class: "common" },
    `What the first ${plural(n, rowNoun)} have in common`,
    scrollRegion("Branches of the first rows", table({}, heads, rows)),
    note(
      "Contributions are summed along the hierarchy. Each term passes its contribution on to its parents in equal ",
      `shares, up to a branch. The branches are chosen by their means for the first ${plural(n, rowNoun)}.`,
    ),
  );
}

// The quality of the model on rows that it never saw.
function modelQuality(quality) {
  const [dataset] = datasets;
  const rows = sumOf(quality.class_rows);
  const chance = (quality.class_rows[Math.max(0, dataset.classes.indexOf(quality.positive))] / rows).toFixed(2);
  const facts = [
    ["AUC (0.5 by chance)", quality.auc],
    [
      quality.positive ? `average precision (${quality.positive}; ${chance} by chance)` : "average precision",
      quality.average_precision,
    ],
    ["GMean (geometric mean of the recalls; 0.5 by chance)", quality.gmean],
    quality.calibrated_log_loss === null
      ? ["log loss (0 at best)", quality.log_loss]
      : ["log loss, calibrated (0 at best)", quality.calibrated_log_loss],
    ["calibration error (0 at best)", quality.calibration_error],
  ];
  const known = facts.filter(([, value]) => value !== null && value !== undefined);
  const classes = joined(quality.class_rows.map((n, k) => [count(n), " ", bdi(dataset.classes[k])]));
  const columns = [0, 1, 2].map((k) => quality.curve.map((bin) => bin[k]));
  const isHeldOutOnce = quality.folds === 1; // some of the rows, rather than all of them by folds
  return details(
    { class: "quality" },
    "How good the model is",
    el(
      "p",
      {},
      isHeldOutOnce
        ? `Measured on ${plural(rows, rowNoun)} (`
        : `Cross-validated in ${quality.folds} folds: each of ${plural(rows, rowNoun)} (`,
      classes,
      isHeldOutOnce
        ? "), held out once and predicted by a model fitted to the others."
        : ") was predicted by a model that had not seen it.",
    ),
    factList(known.map(([what, value]) => [what, value.toFixed(3)])),
    quality.note && note(quality.note),
    quality.curve.length > 0 &&
      details({}, "Reliability of the calibrated probabilities", reliabilityOf([[0, columns]])),
  );
}

// How well the number of annotations alone separates the classes, and how closely the ranking follows it.
function studyBias(quality) {
  if (quality.annotations_auc === null) return null;
  const [dataset] = datasets;
  const median = count(quality.median_annotations);
  const facts = [
    [`AUC of the number of annotations alone (${quality.positive})`, quality.annotations_auc],
    [`its rank correlation with the log-odds of ${quality.positive}, held-out rows`, quality.annotations_correlation],
    [`its rank correlation with the log-odds of ${quality.positive}, candidates`, quality.ranking_correlation],
    [`AUC of the model, at most ${median} annotations`, quality.few_auc],
    [`AUC of the model, more than ${median} annotations`, quality.many_auc],
  ];
  const picture = drawnToWidth((width) => annotationScatter(dataset, width));
  return details(
    { class: "quality", open: Boolean(about.unlabelled) },
    `Do well-studied ${rowNouns} simply rank higher?`,
    factList(facts.filter(([, value]) => value !== null).map(([what, value]) => [what, value.toFixed(3)])),
    details({}, "Log-odds against the number of annotations", picture, svgButton("annotations", picture)),
  );
}

// One point per candidate, at whole pixels, each drawn once: a genome has tens of thousands of points.
function annotationScatter(dataset, fullWidth) {
  const { log_odds: odds } = dataset.predictions[0];
  const width = Math.min(fullWidth, 640);
  const [left, right, top, bottom, height] = [52, 12, 12, 44, 320];
  const rows = [...odds.keys()].filter((row) => !dataset.trainingRows.has(row));
  const finite = rows.map((row) => odds[row]).filter((x) => Math.abs(x) < INFINITE);
  const [low, high] = finite.reduce(([a, b], x) => [Math.min(a, x), Math.max(b, x)], [0, 0]);
  const most = rows.reduce((n, row) => Math.max(n, dataset.n_terms[row]), 1);
  const x = (n) => left + (Math.log1p(n) / Math.log1p(most)) * (width - left - right);
  const y = (v) => top + ((high - Math.max(low, Math.min(high, v))) / (high - low || 1)) * (height - top - bottom);
  const places = new Set(rows.map((row) => `M${Math.round(x(dataset.n_terms[row]))},${Math.round(y(odds[row]))}h0`));
  const ticks = [0, 1, 3, 10, 30, 100, 300, 1000, 3000, 10000].filter((n) => n <= most);
  const soft = (px, py, anchor, text, more = {}) => svgText(px, py, anchor, text, { class: "soft", ...more });
  return svg(
    "svg",
    { width, height, role: "img", "aria-label": "The candidates' log-odds against their annotation counts." },
    svg("path", { d: `M${left},${y(0)}H${width - right}`, class: "axis", "stroke-dasharray": "3 3" }),
    svg("path", { d: [...places].join(""), class: "dots" }),
    ticks.map((n) => soft(x(n), height - bottom + 18, "middle", count(n))),
    [low, 0, high].map((v) => soft(left - 6, y(v) + 4, "end", signed(v, 1))),
    soft((left + width) / 2, height - 6, "middle", "number of annotations"),
    soft(12, height / 2, "middle", "log-odds", { transform: `rotate(-90 12 ${height / 2})` }),
  );
}

// Raw probabilities are shown on request, or if there are no others.
const showsRaw = (dataset) => !about.unlabelled && (about.raw || !isCalibrated(dataset));
const isCalibrated = (dataset) => Object.values(dataset.predictions).some((prediction) => prediction.calibrated);

// The p-value of a candidate by the first model; other models and training rows have none.
function pValueOf(prediction, row, before = "", without = "") {
  const p = prediction.p_value?.[row];
  return p === undefined ? without : before + pValue(p);
}

// A row's name in the training data, the name by which it was recognised, and its class there; undefined if new.
function trainingOf(dataset, row) {
  return dataset.training?.[row - (dataset.genes.length - dataset.training.length)];
}

// Switches for candidates or training rows, and for either end of the list.
function candidateSwitches(browser) {
  const known = browser.all.filter((g) => g.isKnown).length;
  const some = browser.all.length - known;
  const which = [
    [false, `${about.unlabelled ? "unlabelled" : "new"} (${count(some)})`],
    [true, `in the training data (${count(known)})`],
  ];
  const { classes } = datasets[0];
  const top = bdi(shorten(classes[1] ?? "", 24));
  const ends = classes.length === 2 && [
    [false, [about.unlabelled ? "most like " : "most likely ", top]],
    [true, about.unlabelled ? ["least like ", top.cloneNode(true)] : ["most likely ", bdi(shorten(classes[0], 24))]],
  ];
  return [
    known > 0 && some > 0 && switchButtons("Which", which, (isKnown) => browser.change({ known: isKnown }), false),
    ends && switchButtons("Order", ends, (lowestFirst) => browser.change({ lowestFirst }), false),
  ];
}

function candidateLines(g, browser) {
  const [prediction] = Object.values(g.dataset.predictions);
  const score = signed(prediction.log_odds[g.row]);
  const training = trainingOf(g.dataset, g.row);
  const rank = g.isKnown && training ? "–" : g.row + 1;
  return [
    el("strong", {}, el("span", { class: "rank" }, rank), rowName(g)),
    el("span", {}, mainScore(prediction, g.row, score)),
    el(
      "span",
      { class: "sub" },
      furtherScores(prediction, g.row, score),
      pValueOf(prediction, g.row, "; p = "),
      describedBy(g),
      listMark(g, browser),
      g.isKnown && [" ", pill("in the training data")],
      training?.[2] && [" ", pill(["there: ", bdi(shorten(training[2], 24))])],
    ),
    g.entry && el("span", { class: "sub" }, strongestReasons(g)),
  ];
}

// The lift if one class is unlabelled, otherwise the calibrated probability or, without it, the log-odds.
// Training rows have no lift, because the model has seen them.
function mainScore({ lift, calibrated }, row, score) {
  if (Number.isFinite(lift?.[row])) return `lift ${liftText(lift[row])}`;
  return Number.isFinite(calibrated?.[row]) ? probability(calibrated[row]) : score;
}

function furtherScores({ lift, calibrated }, row, score) {
  const chance =
    Number.isFinite(lift?.[row]) && Number.isFinite(calibrated?.[row]) && `; P = ${probability(calibrated[row])}`;
  return (Number.isFinite(lift?.[row]) || Number.isFinite(calibrated?.[row])) && [`log-odds ${score}`, chance];
}

const liftText = (lift) => String(Number(lift.toPrecision(3)));

// How many terms a row has, and how many models agree with the first.
function describedBy({ dataset, row }) {
  const said = Object.values(dataset.predictions).map((p) => p.predicted[row]);
  const same = said.filter((c) => c === said[0]).length;
  return [
    dataset.n_terms && `; ${plural(dataset.n_terms[row], "term")}`,
    same < said.length && !about.unlabelled && `; ${same} of ${said.length} models agree`,
  ];
}

// The two branches (or features) that contribute most to the class at the row's end of the list.
function strongestReasons({ dataset, entry }) {
  const why = entry.methods[0];
  const sign = entry.why === "ranked low" ? -1 : 1;
  const single = () => why.contributions.map((adds, i) => [adds, why.features[i], why.values[i] ? "" : "without "]);
  const all = why.branches?.map(([column, adds]) => [adds, column, ""]).filter(([, column]) => column >= 0) ?? single();
  const inFavour = all.filter(([adds]) => sign * adds > 0).sort(([a], [b]) => sign * (b - a));
  const words = inFavour
    .slice(0, 2)
    .map(([adds, column, before]) => [`${signed(adds, 1)} ${before}`, bdi(shorten(termText(dataset, column), 48))]);
  return joined(words, "; ");
}

// A mark for rows in the list at the stated error rate. They need not be the first rows: a row with the same features
// as a training row of another class has a larger p-value than its neighbours.
function listMark({ dataset, row }, { limit, rate }) {
  const rank = dataset.predictions[0].p_rank?.[row];
  return rank <= limit && [" ", pill(`in the list at ${Number((100 * rate).toFixed(2))}%`)];
}

function candidateSummary({ dataset, row, isKnown }) {
  const training = trainingOf(dataset, row);
  if (!training) {
    const ranked = dataset.training ? dataset.genes.length - dataset.training.length : dataset.genes.length;
    const known = isKnown && ` This ${rowNoun} is in the training data, so its class was known.`;
    return [`Rank ${count(row + 1)} of ${count(ranked)}.`, known];
  }
  const [name, shared, label] = training;
  return [
    `This ${rowNoun} is in the training data, so its class was known and its prediction means little. `,
    "Its name in the training data is ",
    [el("strong", {}, bdi(name)), label && [" (", bdi(label), ")"]],
    shared !== name && ["; it was recognised by its name ", bdi(shared)],
    ".",
  ];
}
