// Genes: find one, see what each method says about it, and why.
const FIRST_GENES = 40;
const MORE_GENES = 200;

// Why a gene is among those that are explained, in the words of the page.
const WHY_EXPLAINED = {
  "sure and right": "most confident, correct",
  "sure and wrong": "most confident, wrong",
  "asked for": "requested",
};

// One gene of one dataset, as it is listed.
function listedGene(datasetIndex, row) {
  const dataset = datasets[datasetIndex];
  const gene = dataset.genes[row];
  const searchText = `${gene} ${symbolOf(dataset, row)}`.toLowerCase();
  return { dataset, datasetIndex, row, gene, searchText, entry: dataset.explanations.get(row) };
}

function genes() {
  const all = datasets.flatMap((dataset, i) => dataset.genes.map((_, row) => listedGene(i, row)));
  if (isStudy) all.sort((a, b) => Boolean(b.entry) - Boolean(a.entry));
  const browser = new GeneBrowser(all);
  browser.open(firstGene(all));
  openers.set("row", (name) => browser.openNamed(name));
  return [!isStudy && candidatesIntro(), browser.elements()];
}

function candidatesIntro() {
  const caution = el("p", { class: "caution" }, el("strong", {}, "Note: "), el("bdi", {}, about.caution));
  return card("What this is", el("p", {}, bdi(about.model)), caution);
}

// The best candidate; in a study, the gene of the first dataset with the most to see.
function firstGene(all) {
  if (!isStudy) return all[0];
  const explained = all.filter((g) => g.datasetIndex === 0 && g.entry);
  const most = Math.max(...explained.map(smallestTree));
  return explained.find((g) => smallestTree(g) === most) || all[0];
}

// How much there is to see for a gene that the methods got right: the features of the smallest tree.
function smallestTree({ entry }) {
  const trees = Object.values(entry.methods).filter((why) => why.tree);
  if (entry.why === "sure and wrong" || !trees.length) return 0;
  return Math.min(...trees.map((why) => why.features.length));
}

// The list of genes, and beside it the one that is chosen.
class GeneBrowser {
  constructor(all) {
    this.all = all;
    this.query = "";
    this.datasetIndex = null;
    this.explainedOnly = false;
    this.shown = FIRST_GENES;
    this.chosen = null;
    this.list = el("ul", { class: "genes" });
    this.status = el("p", { class: "note", role: "status" });
    this.more = el("div", { class: "more" });
    this.detail = el("div", { id: "gene", tabindex: -1 });
  }

  elements() {
    const side = card(
      isStudy ? "Genes" : "Candidates, most likely first",
      this.controls(),
      this.status,
      el("div", { class: "list-box", tabindex: 0, role: "region", "aria-label": "Genes found" }, this.list),
      this.more,
    );
    return el("div", { class: "grid side" }, side, this.detail);
  }

  controls() {
    const options = [["", "all datasets"], ...datasets.map((d, i) => [i, d.name])];
    const changeDataset = (value) => this.change({ datasetIndex: value === "" ? null : Number(value) });
    return el(
      "div",
      { class: "controls" },
      searchField(
        "Search genes",
        (query) => this.change({ query }),
        () => this.openFirst(),
      ),
      datasets.length > 1 && selectField("Dataset", options, changeDataset, ""),
      checkbox("explained only", (explainedOnly) => this.change({ explainedOnly })),
    );
  }

  change(what) {
    Object.assign(this, what, { shown: FIRST_GENES });
    this.draw();
  }

  matches(g) {
    return (
      (this.datasetIndex === null || g.datasetIndex === this.datasetIndex) &&
      (!this.explainedOnly || g.entry) &&
      g.searchText.includes(this.query)
    );
  }

  draw() {
    const found = this.all.filter((g) => this.matches(g));
    const severalTimes = datasets.length > 1 && this.datasetIndex === null;
    this.status.textContent = plural(found.length, "gene") + (severalTimes ? ", counted once per dataset" : "");
    const item = (g) =>
      el(
        "li",
        {},
        geneButton(g, this.isChosen(g), () => this.choose(g)),
      );
    setContent(this.list, found.slice(0, this.shown).map(item));
    const left = found.length - this.shown;
    const showMore = () => {
      this.shown += MORE_GENES;
      this.draw();
    };
    setContent(this.more, left > 0 && button(`Show more (${count(left)} left)`, showMore));
  }

  // An exact name comes before names that contain it.
  openFirst() {
    const found = this.all.filter((g) => this.matches(g));
    const isExact = (g) => [g.gene, symbolOf(g.dataset, g.row)].some((name) => name.toLowerCase() === this.query);
    const first = found.find(isExact) ?? found[0];
    if (first) this.choose(first);
  }

  openNamed(name) {
    const found = this.all.filter((g) => g.gene === name || symbolOf(g.dataset, g.row) === name);
    const first = found.find((g) => g.entry) ?? found[0];
    if (first && !this.isChosen(first)) this.open(first);
  }

  isChosen({ dataset, row }) {
    return dataset === this.chosen?.dataset && row === this.chosen.row;
  }

  open(g) {
    this.chosen = g;
    this.draw();
    if (g)
      setContent(
        this.detail,
        geneDetail(g, (other) => this.choose(other)),
      );
  }

  // On narrow screens the gene is below the list, so it is scrolled to.
  choose(g) {
    this.open(g);
    setAddress("row", g.gene);
    this.detail.focus({ preventScroll: true });
    if (innerWidth < 960) this.detail.scrollIntoView();
  }
}

function geneName({ dataset, row, gene }) {
  const symbol = symbolOf(dataset, row);
  return [bdi(gene), symbol && [" ", el("span", { class: "symbol" }, bdi(symbol))]];
}

function geneButton(g, isChosen, onclick) {
  const attributes = { type: "button", "aria-current": isChosen, onclick };
  return el("button", attributes, isStudy ? studyGeneLines(g) : candidateLines(g));
}

const pill = (text, className = "pill") => el("span", { class: className }, text);

function candidateLines(g) {
  const [prediction] = Object.values(g.dataset.predictions);
  const isKnown = g.dataset.trainingRows.has(g.row);
  return [
    el("strong", {}, el("span", { class: "rank" }, g.row + 1), geneName(g)),
    el("span", {}, signed(prediction.log_odds[g.row])),
    el("span", { class: "sub" }, g.entry && strongestReasons(g), isKnown && [" ", pill("in the training data")]),
  ];
}

function studyGeneLines(g) {
  const { dataset, row, entry } = g;
  const predictions = Object.values(dataset.predictions);
  const correct = predictions.filter((p) => p.predicted[row] === dataset.truth[row]).length;
  return [
    el("strong", {}, geneName(g)),
    el("span", {}, entry && pill("explained")),
    el(
      "span",
      { class: "sub" },
      [bdi(dataset.name), "; ", bdi(dataset.classes[dataset.truth[row]])],
      `; correct: ${correct} of ${plural(predictions.length, "method")}`,
    ),
  ];
}

// The three features that contribute most to the class whose log-odds are shown.
function strongestReasons({ dataset, entry }) {
  const why = entry.methods[0];
  const inFavour = why.contributions.map((contribution, i) => [contribution, i]).filter(([c]) => c > 0);
  const strongest = inFavour.sort((a, b) => b[0] - a[0]).slice(0, 3);
  return strongest.map(([contribution, i], k) => {
    const text = bdi(shorten(termText(dataset, why.features[i]), 48));
    return [k ? "; " : "", why.values[i] ? "" : "no ", text, " ", signed(contribution, 1)];
  });
}

function geneDetail(g, goTo) {
  const { dataset, row, entry } = g;
  const others = sameGeneElsewhere(g);
  const overall = card(
    null,
    el("h2", {}, "Gene ", geneName(g)),
    el("p", {}, isStudy ? studyGeneSummary(g) : candidateSummary(g)),
    scoreTable(dataset, row),
    others.length > 0 &&
      note(
        "The same gene in ",
        others.map((o, k) => [k ? " " : "", button(bdi(o.dataset.name), () => goTo(o))]),
      ),
    !entry && howToExplain(g),
  );
  return [overall, entry && explanations(dataset, entry), entry?.similar && similarRows(dataset, entry, goTo, g)];
}

function studyGeneSummary({ dataset, row, entry }) {
  const trueClass = el("strong", {}, bdi(dataset.classes[dataset.truth[row]]));
  const why = entry && `; ${WHY_EXPLAINED[entry.why] ?? entry.why}`;
  return ["Dataset ", bdi(dataset.name), "; true class ", trueClass, why, "."];
}

function candidateSummary({ dataset, row }) {
  const isKnown = dataset.trainingRows.has(row);
  return [
    `Rank ${count(row + 1)} of ${count(dataset.genes.length)}.`,
    isKnown && " The model was trained on this gene and knew its class.",
  ];
}

// Datasets of one group, such as one organism, describe the same genes.
function sameGeneElsewhere(g) {
  if (!isStudy || !g.dataset.group) return [];
  return datasets
    .map((other, i) => [i, other === g.dataset || other.group !== g.dataset.group ? -1 : other.genes.indexOf(g.gene)])
    .filter(([, row]) => row >= 0)
    .map(([i, row]) => listedGene(i, row));
}

function scoreTable(dataset, row) {
  const shownClass = dataset.classes.length === 2 ? dataset.classes[1] : "predicted class";
  const heads = [
    columnHead("method"),
    columnHead("predicted"),
    isStudy && columnHead("verdict"),
    numberHead("log-odds"),
    numberHead("P(", bdi(shorten(shownClass, 24)), ")"),
  ];
  const rows = Object.entries(dataset.predictions).map(([method, prediction]) =>
    scoreRow(dataset, row, methods[method].name, prediction),
  );
  return scrollRegion("Scores of the methods", table({ class: "scores" }, heads, rows));
}

function scoreRow(dataset, row, method, prediction) {
  const { odds, chance } = scoresOf(prediction, row);
  const isCorrect = prediction.predicted[row] === dataset.truth?.[row];
  const verdict = isCorrect ? pill("✓ correct", "pill right") : pill("✗ wrong", "pill wrong");
  return el(
    "tr",
    {},
    rowHead(bdi(method)),
    el("td", {}, bdi(dataset.classes[prediction.predicted[row]] ?? "?")),
    isStudy && el("td", {}, verdict),
    numberCell(signed(odds)),
    numberCell(chance === null ? "–" : probability(chance)),
  );
}

// Log-odds are known for two classes only; a method may also give neither.
function scoresOf(prediction, row) {
  if (prediction.log_odds) {
    const odds = prediction.log_odds[row];
    return { odds, chance: odds === null ? null : sigmoid(odds) };
  }
  return { odds: null, chance: prediction.probability ? prediction.probability[row] : null };
}

function howToExplain({ gene }) {
  const command = isStudy
    ? `${about.command || "hietan study ..."} --genes ${shellQuoted(gene)}`
    : `${about.command} --gene ${shellQuoted(gene)}`;
  const words = isStudy
    ? "This gene is not explained in this report. Run this command with the study's own directory as --output to " +
      "add its explanation; finished jobs are not run again:"
    : "This command explains the gene in a terminal:";
  return [el("p", {}, words), el("pre", {}, el("code", { class: "command" }, command))];
}

// The methods last looked at stay chosen from gene to gene.
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
  const controls = el(
    "div",
    { class: "controls" },
    selectField("Method", options, changeFirst, lastShown.first),
    selectField("Compare with", [["", "no other method"], ...options], changeSecond, lastShown.second ?? ""),
  );
  return card("Why", offered.length > 1 && controls, box);
}
