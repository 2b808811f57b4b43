// Candidates: what they were ranked by, how good that is, and how each of them is listed.
function candidatesIntro() {
  const caution = el("p", { class: "caution" }, el("strong", {}, "Note: "), el("bdi", {}, about.caution));
  return card("What this is", el("p", {}, bdi(about.model)), caution, report.quality && modelQuality(report.quality));
}

// The quality of the model on rows that it never saw.
function modelQuality(quality) {
  const [dataset] = datasets;
  const rows = sumOf(quality.class_rows);
  const chance = (quality.class_rows.at(-1) / rows).toFixed(2);
  const facts = [
    ["AUC (0.5 by chance)", quality.auc],
    [`average precision${quality.class_rows.length === 2 ? ` (${chance} by chance)` : ""}`, quality.average_precision],
    ["GMean (of the recalls)", quality.gmean],
    ["log loss, calibrated (0 at best)", quality.calibrated_log_loss ?? quality.log_loss],
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
    quality.curve.length > 0 && details({}, "How far the calibrated probabilities hold", reliabilityOf([[0, columns]])),
  );
}

const isCalibrated = (dataset) => Object.values(dataset.predictions).some((prediction) => prediction.calibrated);

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
    return [why.values[i] ? "" : "no ", text, " ", signed(sign * contribution, 1)];
  });
  return joined(words, "; ");
}

function candidateSummary({ dataset, row, isKnown }) {
  const training = trainingOf(dataset, row);
  if (!training) {
    const ranked = dataset.training ? dataset.genes.length - dataset.training.length : dataset.genes.length;
    const known = isKnown && ` The model was trained on this ${rowNoun} and knew its class.`;
    return [`Rank ${count(row + 1)} of ${count(ranked)}.`, known];
  }
  const [name, shared, label] = training;
  return [
    `The model was trained on this ${rowNoun} and knew its class, so its score says little. The training data call it `,
    [el("strong", {}, bdi(name)), label && [" (", bdi(label), ")"]],
    shared !== name && ["; it was recognised by the name ", bdi(shared)],
    ".",
  ];
}

// How many training rows of each class have the value of a feature that a reason rests on.
function rowsBehind(dataset, column, value) {
  if (!dataset.term_counts?.length) return null;
  const counted = dataset.classes.map((label, c) => {
    const ones = dataset.term_counts[c][column];
    const size = dataset.class_sizes[c];
    return [bdi(shorten(label, 24)), ` ${count(value ? ones : size - ones)} of ${count(size)}`];
  });
  const whose = `training ${rowNouns} ${value ? "with" : "without"} it: `;
  return el("span", { class: "sub behind" }, whose, joined(counted));
}
