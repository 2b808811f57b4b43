// Rows: find one, and see each method's prediction and its explanation.
const FIRST_LISTED = 40;
const MORE_LISTED = 200;

// Why a row was chosen to be explained, as the report words it.
const WHY_EXPLAINED = {
  drawn: "drawn at random",
  "asked for": "requested",
};

// One row of one dataset, as it is listed. In the data, row names are called genes.
function listedRow(datasetIndex, row) {
  const dataset = datasets[datasetIndex];
  const name = dataset.genes[row];
  const isKnown = dataset.trainingRows.has(row);
  const searchText = `${name} ${symbolOf(dataset, row)} ${trainingOf(dataset, row)?.[0] ?? ""}`.toLowerCase();
  return { dataset, datasetIndex, row, name, isKnown, searchText, entry: dataset.explanations.get(row) };
}

function rows() {
  const all = datasets.flatMap((dataset, i) => dataset.genes.map((_, row) => listedRow(i, row)));
  if (isStudy) all.sort(byInterest);
  const browser = new RowBrowser(all);
  browser.open(all[0]);
  openers.set("row", (name, dataset) => browser.openNamed(name, dataset));
  return [!isStudy && candidatesIntro(browser), browser.elements()];
}

// Explained rows come first: rows of the first dataset that most methods predict correctly and that have much to show.
function byInterest(a, b) {
  if (!a.entry || !b.entry) return Boolean(b.entry) - Boolean(a.entry);
  return a.datasetIndex - b.datasetIndex || countRight(b) - countRight(a) || smallestTree(b) - smallestTree(a);
}

// The number of methods that predict a row's class correctly.
const countRight = ({ dataset, row }) =>
  Object.values(dataset.predictions).filter((p) => p.predicted[row] === dataset.truth[row]).length;

// How much there is to show for a row: the number of features in the smallest tree.
function smallestTree({ entry }) {
  const trees = Object.values(entry.methods).filter((why) => why.tree);
  return trees.length ? Math.min(...trees.map((why) => why.features.length)) : 0;
}

// The list of rows, next to the chosen one.
class RowBrowser {
  constructor(all) {
    const filters = { query: "", datasetIndex: null, explainedOnly: false, agreement: "", leastTerms: 0 };
    Object.assign(this, { all, ...filters, lowestFirst: false, shown: FIRST_LISTED, chosen: null });
    this.known = all.every((g) => g.isKnown);
    this.list = el("ul", { class: "rows" });
    this.status = el("p", { class: "note", role: "status" });
    this.more = el("div", { class: "more" });
    this.detail = el("div", { id: "row", class: "shown-here", tabindex: -1 });
  }

  elements() {
    const side = cardWithTools(
      isStudy ? capitalised(rowNouns) : "Candidates",
      csvButton(isStudy ? rowNouns : "candidates", () => listedContents(this.found())),
      this.controls(),
      this.status,
      el(
        "div",
        { class: "list-box", tabindex: 0, role: "region", "aria-label": `${capitalised(rowNouns)} found` },
        this.list,
      ),
      this.more,
    );
    if (!isStudy) side.classList.add("printed");
    return el("div", { class: "grid side" }, side, this.detail);
  }

  controls() {
    const options = [["", "all datasets"], ...datasets.map((d, i) => [i, d.name])];
    const changeDataset = (value) => this.change({ datasetIndex: value === "" ? null : Number(value) });
    return controls(
      searchField(
        `Search ${rowNouns}`,
        (query) => this.change({ query }),
        () => this.openFirst(),
      ),
      datasets.length > 1 && selectField("Dataset", options, changeDataset, ""),
      !isStudy && candidateSwitches(this),
      details(
        { class: "filters" },
        "Filters",
        controls(
          agreementField(this),
          termsField(this),
          checkbox("only with an explanation", (explainedOnly) => this.change({ explainedOnly })),
        ),
      ),
    );
  }

  change(what) {
    Object.assign(this, what, { shown: FIRST_LISTED });
    this.draw();
  }

  matches(g) {
    return (
      (this.datasetIndex === null || g.datasetIndex === this.datasetIndex) &&
      (!this.explainedOnly || g.entry) &&
      (isStudy || g.isKnown === this.known) &&
      isWellSupported(g, this) &&
      g.searchText.includes(this.query)
    );
  }

  found() {
    const found = this.all.filter((g) => this.matches(g));
    return this.lowestFirst ? found.reverse() : found;
  }

  draw() {
    const found = this.found();
    const severalTimes = datasets.length > 1 && this.datasetIndex === null;
    this.status.textContent = plural(found.length, rowNoun) + (severalTimes ? ", counted once per dataset" : "");
    const item = (g) => {
      const attributes = { type: "button", "aria-current": this.isChosen(g), onclick: () => this.choose(g) };
      return el("li", {}, el("button", attributes, isStudy ? studyRowLines(g) : candidateLines(g, this)));
    };
    const items = found.slice(0, this.shown).map(item);
    setContent(this.list, items);
    const showMore = () => {
      this.shown += MORE_LISTED;
      this.draw();
    };
    setContent(this.more, moreButton(found.length - this.shown, showMore));
  }

  // An exact match comes before names that contain the query.
  openFirst() {
    const found = this.found();
    const isExact = (g) => [g.name, symbolOf(g.dataset, g.row)].some((name) => name.toLowerCase() === this.query);
    const first = found.find(isExact) ?? found[0];
    if (first) this.choose(first);
  }

  openNamed(name, dataset) {
    const isNamed = (g) => g.name === name || symbolOf(g.dataset, g.row) === name;
    const all = this.all.filter(isNamed);
    const found = all.filter((g) => g.dataset.name === dataset);
    const [first] = (found.length ? found : all).sort((a, b) => Boolean(b.entry) - Boolean(a.entry));
    if (first && !this.isChosen(first)) this.open(first);
  }

  isChosen({ dataset, row }) {
    return dataset === this.chosen?.dataset && row === this.chosen.row;
  }

  open(g) {
    this.chosen = g;
    this.draw();
    const goTo = (other) => this.choose(other);
    if (g) setContent(this.detail, rowDetail(g, goTo));
  }

  // On narrow screens the row is below the list, so scroll to it.
  choose(g) {
    this.open(g);
    setAddress("row", g.name, ...(datasets.length > 1 ? [g.dataset.name] : []));
    this.detail.focus({ preventScroll: true });
    if (innerWidth < 960) this.detail.scrollIntoView();
  }
}

function rowName({ dataset, row, name }) {
  const symbol = symbolOf(dataset, row);
  return [bdi(name), symbol && symbol !== name && [" ", el("span", { class: "symbol" }, bdi(symbol))]];
}

const pill = (text, className = "pill") => el("span", { class: className }, text);

function studyRowLines(g) {
  const { dataset, row, entry } = g;
  const number = Object.keys(dataset.predictions).length;
  return [
    el("strong", {}, rowName(g)),
    el("span", {}),
    el(
      "span",
      { class: "sub" },
      [bdi(dataset.name), "; ", bdi(dataset.classes[dataset.truth[row]])],
      `; correct: ${countRight(g)} of ${plural(number, "method")}`,
      !entry && "; not explained here",
    ),
  ];
}

function rowDetail(g, goTo) {
  const { dataset, row, entry } = g;
  const others = sameRowElsewhere(g);
  const overall = cardWithTools(
    [`${capitalised(rowNoun)} `, rowName(g)],
    csvButton(`${rowNoun} ${g.name}`, () => listedContents([g])),
    el("p", {}, isStudy ? studyRowSummary(g) : candidateSummary(g)),
    scoreTable(dataset, row),
    scoreNote(dataset),
    others.length > 0 &&
      note(
        `The same ${rowNoun} in `,
        others.map((o) => [button(bdi(o.dataset.name), () => goTo(o)), " "]),
      ),
    !entry && howToExplain(g),
  );
  return [overall, entry && explanations(dataset, entry), entry?.similar && similarRows(entry, goTo, g)];
}

function studyRowSummary({ dataset, row, entry }) {
  const trueClass = el("strong", {}, bdi(dataset.classes[dataset.truth[row]]));
  const why = entry && `; ${WHY_EXPLAINED[entry.why] ?? entry.why}`;
  return ["Dataset ", bdi(dataset.name), "; true class ", trueClass, why, "."];
}

// Datasets of one group, such as one organism, describe the same rows.
function sameRowElsewhere(g) {
  if (!isStudy || !g.dataset.group) return [];
  return datasets
    .map((other, i) => [i, other === g.dataset || other.group !== g.dataset.group ? -1 : other.genes.indexOf(g.name)])
    .filter(([, row]) => row >= 0)
    .map(([i, row]) => listedRow(i, row));
}

function scoreTable(dataset, row) {
  const shownClass = dataset.positive || (dataset.classes.length === 2 ? dataset.classes[1] : "predicted class");
  const heads = [
    columnHead("method"),
    about.unlabelled ? numberHead("lift") : columnHead("predicted"),
    isStudy && columnHead("verdict"),
    isCalibrated(dataset) && numberHead(about.unlabelled ? "P(" : "calibrated P(", bdi(shorten(shownClass, 24)), ")"),
    report.lists && numberHead("p-value"),
    numberHead("log-odds"),
    showsRaw(dataset) && numberHead("raw P(", bdi(shorten(shownClass, 24)), ")"),
  ];
  const rows = Object.entries(dataset.predictions).map(([method, prediction]) =>
    scoreRow(dataset, row, methods[method].name, prediction),
  );
  return scrollRegion("Predictions of the methods", table({ class: "scores" }, heads, rows));
}

// The meaning of the columns of predictions.
function scoreNote(dataset) {
  const [calibrated, raw] = [isCalibrated(dataset), showsRaw(dataset)];
  return note(
    "The log-odds of an explained method are the sum of its contributions. ",
    calibrated && "Calibration changes P but not the log-odds. ",
    about.unlabelled &&
      `The lift is how many times more frequent these log-odds are among known than among unlabelled ${rowNouns}. `,
    calibrated &&
      (about.unlabelled
        ? "P is the lift multiplied by the given share of positives. "
        : `Calibrated P is fitted to held-out ${rowNouns}, so about 80% of ${rowNouns} with P = 0.8 have the class. `),
    raw && "Raw P is the method's uncalibrated probability, which is often too close to 0 or 1. ",
    report.lists &&
      `The p-value is roughly the number of held-out ${rowNouns} of the other class that rank at least as high, ` +
        `divided by the number of all held-out ${rowNouns}.`,
  );
}

function scoreRow(dataset, row, method, prediction) {
  const { odds, chance } = scoresOf(prediction, row);
  const isCorrect = prediction.predicted[row] === dataset.truth?.[row];
  const [mark, word, className] = isCorrect ? ["✓", " correct", "pill right"] : ["✗", " wrong", "pill wrong"];
  const verdict = pill([mark, el("span", { class: "word" }, word)], className);
  return tableRow(
    rowHead(bdi(method)),
    about.unlabelled ? liftCell(prediction, row) : el("td", {}, bdi(dataset.classes[prediction.predicted[row]] ?? "?")),
    isStudy && el("td", {}, verdict),
    isCalibrated(dataset) && calibratedCell(prediction, row),
    pValueCell(prediction, row),
    numberCell(signed(odds)),
    showsRaw(dataset) && numberCell(chance === null ? "–" : probability(chance)),
  );
}

const strongOr = (text) => numberCell(text ? el("strong", {}, text) : "–");
const calibratedCell = ({ calibrated }, row) =>
  strongOr(Number.isFinite(calibrated?.[row]) && probability(calibrated[row]));
const liftCell = ({ lift }, row) => strongOr(Number.isFinite(lift?.[row]) && liftText(lift[row]));
const pValueCell = (prediction, row) => report.lists && numberCell(pValueOf(prediction, row, "", "–"));

// Log-odds exist for two classes only; a method may also give neither.
function scoresOf(prediction, row) {
  const odds = prediction.log_odds?.[row] ?? null;
  return { odds, chance: odds === null ? (prediction.probability?.[row] ?? null) : sigmoid(odds) };
}

function howToExplain({ name }) {
  const command = isStudy
    ? `${about.command || "hietan study ..."} --rows ${shellQuoted(name)}`
    : `${about.command} --row ${shellQuoted(name)}`;
  const words = isStudy
    ? `This report does not explain this ${rowNoun}. To add its explanation, run this command with the study's ` +
      "directory as --output; only the jobs that predict it run again:"
    : `This command explains the ${rowNoun} in a terminal:`;
  return [el("p", {}, words), el("pre", {}, el("code", { class: "command" }, command))];
}

// The last methods chosen stay chosen from row to row.
const lastShown = { first: null, second: null };

function explanations(dataset, entry) {
  const offered = Object.keys(entry.methods).map(Number);
  const removesTerms = (method) => entry.methods[method].removed.length && entry.methods[method].tree;
  if (!offered.includes(lastShown.first)) lastShown.first = offered.find(removesTerms) ?? offered[0];
  if (!offered.includes(lastShown.second)) lastShown.second = null;
  const box = el("div", {});
  const draw = () => {
    const shown = [lastShown.first, lastShown.second].filter((method) => method !== null);
    const panels = shown.map((method) => explanationPanel(dataset, entry, method));
    setContent(box, el("div", { class: shown.length > 1 ? "panels two" : "panels" }, panels));
  };
  const change = (what) => {
    Object.assign(lastShown, what);
    draw();
  };
  const options = offered.map((method) => [method, methods[method].name]);
  const changeFirst = (value) => change({ first: Number(value) });
  const changeSecond = (value) => change({ second: value === "" ? null : Number(value) });
  draw();
  const choices = controls(
    selectField("Method", options, changeFirst, lastShown.first),
    selectField("Compare with", [["", "no other method"], ...options], changeSecond, lastShown.second ?? ""),
  );
  return card("Why", offered.length > 1 && choices, box);
}
