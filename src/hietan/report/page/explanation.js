// Why one method says what it says about one row: the tree, the sum, and what was left out.
const STRONGEST_SHOWN = 12;
const REMOVED_SHOWN = 300;

function explanationPanel(dataset, entry, method) {
  const raw = entry.methods[method];
  const title = methods[method].name;
  const panel = el("section", { class: "panel", "aria-label": "Explanation by " + title }, el("h3", {}, bdi(title)));
  if (!raw) return append(panel, [note("This method does not offer explanations.")]);
  const why = { ...raw, target: classOfLabel(dataset, raw.target) };
  return append(panel, [
    predictionLine(why, dataset.predictions[method]?.calibrated?.[entry.row]),
    learnedTree(dataset, why, title),
    why.trace && treeTrace(dataset, why.trace),
    el(
      "div",
      { class: "card-head" },
      el("h4", {}, "How the log-odds add up"),
      csvButton(`contributions ${title}`, () => contributionContents(dataset, why)),
    ),
    why.branches &&
      note(
        "A branch sums up the features below it, except those that belong to another branch. ",
        "Open one to see its strongest features.",
      ),
    waterfall(dataset, why),
    countsLegend(why),
    why.flip && whatWouldChange(dataset, why.flip),
    removedTerms(dataset, why),
  ]);
}

// The calibrated probability is that of the second class; undefined where there is none.
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
          about.raw && `; the classifier's own is ${probability(why.probability)}`,
        ],
    `, log-odds ${signed(why.log_odds, 3)}, from ${plural(used, "feature")}`,
    why.removed.length > 0 && `; ${count(removed)} left out`,
    ".",
  );
}

function learnedTree(dataset, why, title) {
  if (!why.tree || !why.parents.some((p) => p >= 0)) return null;
  const [number, total] = why.rest; // the features that are not listed: how many, and what they add in total
  return [
    el("h4", {}, "The learned tree"),
    new TreeDrawing(dataset, why, title).elements(),
    number > 0 &&
      note(
        "Drawn: the strongest features and their paths to the root. ",
        `Not drawn: ${plural(number, "weaker feature")}, adding ${signed(total)} in total.`,
      ),
  ];
}

// The first edges that were considered for the tree, taken or refused; made when it is first opened.
function treeTrace(dataset, trace) {
  const row = ([rank, i, j, information, , outcome]) =>
    tableRow(
      numberCell(count(rank)),
      el("td", {}, term(dataset, i), " – ", term(dataset, j)),
      numberCell(information.toFixed(4)),
      el("td", {}, bdi(outcome)),
    );
  const heads = [numberHead("rank"), columnHead("edge"), numberHead("CMI"), columnHead("outcome")];
  const directed = Object.entries(trace.directions).map(([rule, n]) => `${count(n)} ${rule}`);
  const summary = `How it was learned: ${plural(trace.considered, "edge")} considered`;
  const intro = note(
    "Edges are considered from the highest conditional mutual information (CMI) down, ",
    `until the tree is complete; the first ${count(trace.edges.length)} are listed. `,
    directed.length > 0 && `Directions of the edges of the tree: ${directed.join(", ")}.`,
  );
  return detailsMadeLate("learned", summary, intro, () =>
    scrollRegion("Considered edges", table({ class: "trace" }, heads, trace.edges.map(row))),
  );
}

// A branch of the hierarchy: its name, and its strongest features with the training rows behind each, to be unfolded.
function branchLabel(dataset, why, [column, , number, parts]) {
  if (column < 0) return `the rest: ${plural(number, "feature")}`;
  const line = ([i, adds]) =>
    el(
      "li",
      {},
      linkedTerm(dataset, why.features[i]),
      ` = ${why.values[i]}: ${signed(adds, 3)}`,
      evidenceBehind(dataset, why, i),
    );
  const left = number - Math.min(parts.length, STRONGEST_SHOWN);
  return el(
    "details",
    { class: "summed" },
    el("summary", {}, bdi(dataset.names[column] || dataset.features[column]), `: ${plural(number, "feature")}`),
    el(
      "ul",
      {},
      parts.slice(0, STRONGEST_SHOWN).map(line),
      left > 0 && el("li", { class: "note" }, `and ${plural(left, "weaker feature")}`),
    ),
  );
}

// The steps from zero to the log-odds: [label, value of the feature, what it adds].
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

// All listed features, as they are saved: with the parent that each is given, and the rows behind its probability.
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

// The list may be long, so it is made when it is first opened.
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

// A reason has {} where the term belongs that made this one redundant.
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
