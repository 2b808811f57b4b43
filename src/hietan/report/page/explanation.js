// Why one method predicts what it predicts for one row: the tree, the sum, and the features left out.
const STRONGEST_SHOWN = 12;
const REMOVED_SHOWN = 300;

function explanationPanel(dataset, entry, method) {
  const raw = entry.methods[method];
  const title = methods[method].name;
  const panel = el("section", { class: "panel", "aria-label": "Explanation by " + title }, el("h3", {}, bdi(title)));
  if (!raw) return append(panel, [note("This method has no explanations.")]);
  const why = { ...raw, target: classOfLabel(dataset, raw.target) };
  return append(panel, [
    about.unlabelled
      ? finalModelLine(why, dataset.predictions[method].log_odds[entry.row])
      : predictionLine(why, dataset.predictions[method]?.calibrated?.[entry.row]),
    learnedTree(dataset, why, title),
    el(
      "div",
      { class: "card-head" },
      el("h4", {}, "How the log-odds add up"),
      csvButton(`contributions ${title}`, () => contributionContents(dataset, why)),
    ),
    why.branches &&
      note(
        "A branch sums the contributions of the features below it. If a feature has several parents, its ",
        "contribution is divided equally among them, so it can count in several branches. Open a branch to see its ",
        "strongest features.",
      ),
    waterfall(dataset, why),
    countsLegend(why),
    removedTerms(dataset, why),
  ]);
}

// Models that did not see them rank the rows of an unlabelled class; the reasons come from the final model.
function finalModelLine(why, ranked) {
  const used = plural(why.features.length + why.rest[0], "feature");
  const isOther = Math.abs(ranked - why.log_odds) > 1e-3;
  return el(
    "p",
    {},
    `The final model's log-odds are ${signed(why.log_odds, 3)}, computed from ${used}.`,
    isOther && ` The rank comes from a model that did not see this ${rowNoun}, with log-odds ${signed(ranked, 3)}.`,
  );
}

// The calibrated probability refers to the second class; it may be undefined.
function predictionLine(why, calibrated) {
  const used = why.features.length + why.rest[0];
  const removed = sumOf(why.removed.map(([, , , columns]) => columns.length));
  return el(
    "p",
    {},
    calibrated === undefined
      ? ["P(", bdi(why.target), ") = ", el("strong", {}, probability(why.probability))]
      : [
          ["Calibrated P(", bdi(why.target), ") = ", el("strong", {}, probability(calibrated))],
          about.raw && `; the raw probability is ${probability(why.probability)}`,
        ],
    `, log-odds ${signed(why.log_odds, 3)}, from ${plural(used, "feature")}`,
    why.removed.length > 0 && `; ${count(removed)} left out`,
    ".",
  );
}

function learnedTree(dataset, why, title) {
  if (!why.tree || !why.parents.some((p) => p >= 0)) return null;
  const [number, total] = why.rest; // features that are not listed: their number and their total contribution
  return [
    el("h4", {}, "The learned tree"),
    new TreeDrawing(dataset, why, title).elements(),
    number > 0 &&
      note(
        "The drawing shows the strongest features and their paths to the root. ",
        `It leaves out ${plural(number, "weaker feature")}, with ${signed(total)} in total.`,
      ),
  ];
}

// A branch of the hierarchy: its name, and its strongest features with the training rows behind each, folded.
function branchLabel(dataset, why, [column, , number, parts]) {
  const line = ([i, adds]) =>
    el(
      "li",
      {},
      linkedTerm(dataset, why.features[i]),
      ` = ${why.values[i]}: ${signed(adds, 3)}`,
      Math.abs(adds - why.contributions[i]) > 1e-4 && ` of ${signed(why.contributions[i], 3)}`,
      evidenceBehind(dataset, why, i),
    );
  const left = number - Math.min(parts.length, STRONGEST_SHOWN);
  const name = column < 0 ? "the rest" : dataset.names[column] || dataset.features[column];
  return el(
    "details",
    { class: "summed" },
    el("summary", {}, bdi(name), `: ${plural(number, "feature")}`),
    el(
      "ul",
      {},
      parts.slice(0, STRONGEST_SHOWN).map(line),
      left > 0 && el("li", { class: "note" }, `and ${plural(left, "weaker feature")}`),
    ),
  );
}

// The steps from zero to the log-odds: [label, value of the feature, contribution].
function waterfallSteps(dataset, why) {
  const { contributions } = why;
  const further = why.other.map(([what, adds]) => [what, "", adds]);
  if (why.branches) {
    const steps = why.branches.map((branch) => [branchLabel(dataset, why, branch), "", branch[1]]);
    return [["base value", "", why.base], ...steps, ...further];
  }
  const order = byStrength(contributions);
  const strongest = order.slice(0, STRONGEST_SHOWN);
  const others = order.slice(STRONGEST_SHOWN);
  const unlisted = others.length + why.rest[0];
  const total = others.reduce((sum, i) => sum + contributions[i], why.rest[1]);
  return [
    ["base value", "", why.base],
    ...strongest.map((i) => [
      [linkedTerm(dataset, why.features[i]), evidenceBehind(dataset, why, i)],
      why.values[i],
      contributions[i],
    ]),
    ...(unlisted ? [[plural(unlisted, "weaker feature") + ", in total", "", total]] : []),
    ...further,
  ];
}

// All listed features as they are saved: with each feature's parent and the rows behind its probability.
function contributionContents(dataset, why) {
  const classes = why.classes.map((label) => classOfLabel(dataset, label));
  const heads = ["term", "name", "value", "adds", "given", "value of the given term"];
  const counted = classes.flatMap((name) => [`${name}: rows with this value`, `${name}: rows`]);
  const line = (i) => {
    const [column, p] = [why.features[i], why.parents[i]];
    const given = p >= 0 ? [dataset.features[why.features[p]], why.values[p]] : ["", null];
    const behind = why.counts ? classes.flatMap((_, c) => why.counts[i]?.[c] ?? ["", ""]) : [];
    return [dataset.features[column], dataset.names[column], why.values[i], why.contributions[i], ...given, ...behind];
  };
  return [[...heads, ...(why.counts ? counted : [])], byStrength(why.contributions).map(line)];
}

function waterfall(dataset, why) {
  const steps = waterfallSteps(dataset, why);
  const ends = [0];
  for (const [, , adds] of steps) ends.push(ends.at(-1) + adds);
  const [low, high] = [Math.min(...ends), Math.max(...ends)];
  const place = (v) => (v - low) / (high - low || 1);
  const step = (from, to, className) =>
    bar([[className, place(Math.min(from, to)), Math.abs(place(to) - place(from))]], place(0));
  const row = (label, value, adds, from, to, className) =>
    tableRow(rowHead(label), numberCell(value), numberCell(signed(adds, 3)), el("td", {}, step(from, to, className)));
  const kind = (adds) => (adds >= 0 ? "up" : "down");
  const rows = steps.map(([label, value, adds], s) =>
    row(label, value, adds, ends[s], ends[s + 1], s === 0 ? "sum" : kind(adds)),
  );
  const total = el("strong", {}, "log-odds of ", bdi(why.target));
  rows.push(row(total, "", why.log_odds, 0, ends.at(-1), "sum"));
  const heads = [columnHead("part"), numberHead("value"), numberHead("adds"), columnHead("sum so far")];
  return scrollRegion("Contributions", table({ class: "fall" }, heads, rows));
}

// The list may be long, so it is created when it is first opened.
function removedTerms(dataset, why) {
  const all = why.removed.flatMap(([by, reason, value, columns]) =>
    columns.map((column) => ({ column, value, by, reason: dataset.reasons[reason] })),
  );
  if (!all.length) return null;
  const list = el("ul", { class: "gone", tabindex: 0, "aria-label": "Removed terms" });
  const draw = (query) => {
    const found = all.filter(({ column }) => termMatches(dataset, column, query));
    const left = found.length - REMOVED_SHOWN;
    setContent(
      list,
      found.slice(0, REMOVED_SHOWN).map((removed) => removedTerm(dataset, removed)),
      left > 0 && el("li", { class: "note" }, `and ${count(left)} more; search to find them`),
    );
  };
  const summary = `${plural(all.length, "term")} removed as redundant for this ${rowNoun}`;
  return detailsMadeLate("removed", summary, null, () => {
    draw("");
    return [searchField("Search removed terms", draw), list];
  });
}

// A reason has {} in place of the term that made this one redundant.
function removedTerm(dataset, { column, value, by, reason }) {
  const [before, after] = reason.split("{}");
  return el(
    "li",
    {},
    term(dataset, column),
    `, which is ${value}: ${before}`,
    after === undefined ? null : [term(dataset, by), after],
  );
}
