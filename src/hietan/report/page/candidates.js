// Candidates: what they were ranked by, how good that is, and how each of them is listed.
function candidatesIntro() {
  const known = report.quality && [modelQuality(report.quality), studyBias(report.quality)];
  return card(
    "What this is",
    report.lists && statedLists(report.lists),
    el("p", {}, bdi(about.model)),
    caution(el("bdi", {}, about.caution)),
    known,
  );
}

// The list at a false discovery rate, and a slider for the rate.
function statedLists({ first, lines, note: meaning }) {
  const line = el("strong", { role: "status" }, el("bdi", {}, capitalised(lines[first])), ".");
  const oninput = () => setContent(line, el("bdi", {}, capitalised(lines[slider.value])), ".");
  const slider = el("input", { type: "range", min: 0, max: lines.length - 1, value: first, oninput });
  return [
    el("p", {}, line),
    lines.length > 1 && labelled("False discovery rate", slider),
    note(el("bdi", {}, meaning)),
  ];
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
    ["GMean (of the recalls)", quality.gmean],
    quality.calibrated_log_loss === null
      ? ["log loss (0 at best)", quality.log_loss]
      : ["log loss, calibrated (0 at best)", quality.calibrated_log_loss],
    ["calibration error (0 at best)", quality.calibration_error],
  ];
  const known = facts.filter(([, value]) => value !== null && value !== undefined);
  const classes = joined(quality.class_rows.map((n, k) => [count(n), " ", bdi(dataset.classes[k])]));
  const columns = [0, 1, 2].map((k) => quality.curve.map((bin) => bin[k]));
  const isHeldOutOnce = quality.folds === 1; // some of the rows, rather than all of them by folds
  return el(
    "div",
    { class: "quality" },
    el("h3", {}, "How good the model is"),
    el(
      "p",
      {},
      isHeldOutOnce
        ? `Measured on ${plural(rows, rowNoun)} (`
        : `Cross-validated in ${quality.folds} folds: each of ${plural(rows, rowNoun)} (`,
      classes,
      isHeldOutOnce
        ? ") that were held out once, and predicted by a model of all others."
        : ") was predicted by a model that had not seen it.",
    ),
    factList(known.map(([what, value]) => [what, value.toFixed(3)])),
    quality.note && note(quality.note),
    quality.curve.length > 0 && details({}, "How far the calibrated probabilities hold", reliabilityOf([[0, columns]])),
  );
}

// How far the number of annotations alone separates the classes, and how far the ranking follows it.
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
  return el(
    "div",
    { class: "quality" },
    el("h3", {}, `Do well-studied ${rowNouns} simply rank higher?`),
    factList(facts.filter(([, value]) => value !== null).map(([what, value]) => [what, value.toFixed(3)])),
    details({}, "Log-odds against the number of annotations", picture, svgButton("annotations", picture)),
  );
}

// A point per candidate, at whole pixels, each of which is drawn once: a genome has tens of thousands of points.
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
    { width, height, role: "img", "aria-label": "Log-odds of the candidates against their number of annotations." },
    svg("path", { d: `M${left},${y(0)}H${width - right}`, class: "axis", "stroke-dasharray": "3 3" }),
    svg("path", { d: [...places].join(""), class: "dots" }),
    ticks.map((n) => soft(x(n), height - bottom + 18, "middle", count(n))),
    [low, 0, high].map((v) => soft(left - 6, y(v) + 4, "end", signed(v, 1))),
    soft((left + width) / 2, height - 6, "middle", "number of annotations"),
    soft(12, height / 2, "middle", "log-odds", { transform: `rotate(-90 12 ${height / 2})` }),
  );
}

// The classifiers' own probabilities are shown on request, or if there are no others.
const showsRaw = (dataset) => about.raw || !isCalibrated(dataset);
const isCalibrated = (dataset) => Object.values(dataset.predictions).some((prediction) => prediction.calibrated);

// The p-value of a candidate by the first model; other models and training rows have none.
function pValueOf(prediction, row, before = "", without = "") {
  const p = prediction.p_value?.[row];
  return p === undefined ? without : before + pValue(p);
}

// What the training data call a row, the name by which it was recognised, and its class there; undefined if it is new.
function trainingOf(dataset, row) {
  return dataset.training?.[row - (dataset.genes.length - dataset.training.length)];
}

// Candidates or rows that the model was trained on; and from which end of the list.
function candidateSwitches(browser) {
  const known = browser.all.filter((g) => g.isKnown).length;
  const some = browser.all.length - known;
  const which = [
    [false, `new (${count(some)})`],
    [true, `in the training data (${count(known)})`],
  ];
  const { classes } = datasets[0];
  const ends = classes.length === 2 && [
    [false, ["most likely ", bdi(shorten(classes[1], 24))]],
    [true, ["most likely ", bdi(shorten(classes[0], 24))]],
  ];
  return [
    known > 0 && some > 0 && switchButtons("Which", which, (isKnown) => browser.change({ known: isKnown }), false),
    ends && switchButtons("Order", ends, (lowestFirst) => browser.change({ lowestFirst }), false),
  ];
}

function candidateLines(g) {
  const [prediction] = Object.values(g.dataset.predictions);
  const score = signed(prediction.log_odds[g.row]);
  const training = trainingOf(g.dataset, g.row);
  const rank = g.isKnown && training ? "–" : g.row + 1;
  return [
    el("strong", {}, el("span", { class: "rank" }, rank), rowName(g)),
    el("span", {}, prediction.calibrated ? probability(prediction.calibrated[g.row]) : score),
    el(
      "span",
      { class: "sub" },
      prediction.calibrated && `score ${score}`,
      pValueOf(prediction, g.row, "; p = "),
      describedBy(g),
      g.entry && "; ",
      g.entry && strongestReasons(g),
      g.isKnown && [" ", pill("in the training data")],
      training?.[2] && [" ", pill(["there: ", bdi(shorten(training[2], 24))])],
    ),
  ];
}

// How many terms a row has, and how many of the models say the same as the first.
function describedBy({ dataset, row }) {
  const said = Object.values(dataset.predictions).map((p) => p.predicted[row]);
  const same = said.filter((c) => c === said[0]).length;
  return [
    dataset.n_terms && `; ${plural(dataset.n_terms[row], "term")}`,
    said.length > 1 && `; ${same} of ${said.length} models agree`,
  ];
}

// The three features that contribute most to the class at whose end of the list the row is.
function strongestReasons({ dataset, entry }) {
  const why = entry.methods[0];
  const sign = entry.why === "ranked low" ? -1 : 1;
  const inFavour = why.contributions.map((contribution, i) => [sign * contribution, i]).filter(([c]) => c > 0);
  const strongest = inFavour.sort((a, b) => b[0] - a[0]).slice(0, 3);
  const words = strongest.map(([contribution, i]) => {
    const text = bdi(shorten(termText(dataset, why.features[i]), 48));
    return [why.values[i] ? "" : "no ", text, " ", signed(sign * contribution, 1), weakMark(why, i)];
  });
  return joined(words, "; ");
}

function candidateSummary({ dataset, row, isKnown }) {
  const training = trainingOf(dataset, row);
  if (!training) {
    const ranked = dataset.training ? dataset.genes.length - dataset.training.length : dataset.genes.length;
    const known = isKnown && ` This ${rowNoun} is in the training data: its class was known.`;
    return [`Rank ${count(row + 1)} of ${count(ranked)}.`, known];
  }
  const [name, shared, label] = training;
  return [
    `This ${rowNoun} is in the training data: its class was known, so its score means little. `,
    "The training data call it ",
    [el("strong", {}, bdi(name)), label && [" (", bdi(label), ")"]],
    shared !== name && ["; it was recognised by the name ", bdi(shared)],
    ".",
  ];
}
