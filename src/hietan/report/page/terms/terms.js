// The terms that matter to a method: how much they change the prediction, in which direction, and who has them.
const GENERAL = 0.95;
const SWARM_SHOWN = 15;

// Data on terms for a chosen method and dataset: `what` is "effects" or "usage".
class MethodView {
  constructor(what, label, preferred) {
    Object.assign(this, { what, label, preferred, known: datasetsWith(what) });
    this.state = { dataset: null, method: null, query: "", hidesGeneral: true };
    this.methodBox = el("div", {});
    this.status = el("p", { class: "note", role: "status" });
  }

  get dataset() {
    return datasets[this.state.dataset];
  }

  get found() {
    return this.dataset[this.what][this.state.method];
  }

  controls(search, onenter, general, ...more) {
    const options = this.known.map((i) => [i, datasets[i].name]);
    const change = (dataset) => this.changeDataset(Number(dataset));
    return controls(
      options.length > 1 && selectField("Dataset", options, change, this.state.dataset),
      this.methodBox,
      searchField(search, (query) => this.change({ query }), onenter),
      checkbox(general, (hidesGeneral) => this.change({ hidesGeneral }), true),
      more,
    );
  }

  changeDataset(dataset) {
    const offered = Object.keys(datasets[dataset][this.what]).map(Number);
    const isOffered = offered.includes(this.state.method);
    const method = isOffered ? this.state.method : this.preferred(datasets[dataset], offered);
    const options = offered.map((m) => [m, methods[m].name]);
    const change = (m) => this.change({ method: Number(m) });
    setContent(this.methodBox, selectField(this.label, options, change, method));
    this.change({ dataset, method });
  }

  change(what) {
    Object.assign(this.state, what);
    this.draw();
  }
}

const datasetsWith = (what) => [...datasets.keys()].filter((i) => Object.keys(datasets[i][what] ?? {}).length);

// The method with the highest AUC on a dataset, which is the most interesting one to show.
function bestOf(dataset, offered) {
  const auc = (m) => dataset.quality?.methods[m]?.scores.auc[0] ?? 0;
  return offered.reduce((best, m) => (auc(m) > auc(best) ? m : best));
}

// One term of the list, with its details.
function termLine(dataset, effects, k) {
  const column = effects.columns[k];
  const present = dataset.present.map((counts) => counts[column]);
  const sizes = classCounts(dataset);
  return {
    ...{ k, column, effect: effects.effect[k], absolute: effects.absolute[k], gap: effects.gap[k] },
    ...{ agree: effects.agree[k], folds: effects.compared?.[k] ?? effects.folds, used: effects.used[k] },
    rows: sumOf(present),
    shares: present.map((n, c) => n / Math.max(1, sizes[c])),
    share: sumOf(present) / Math.max(1, sumOf(sizes)),
  };
}

class TermView extends MethodView {
  constructor() {
    super("effects", "Model", bestOf);
    this.swarm = el("div", {});
    this.box = el("div", {});
    this.place = el("div", {});
    this.oneTerm = el("div", { class: "shown-here", tabindex: -1 });
    openers.set("term", (name) => this.openNamed(name));
    this.changeDataset(this.known[0]);
  }

  elements() {
    const whole = cardWithTools(
      "Which terms matter",
      [csvButton("terms by effect", () => this.table.contents()), svgButton("terms by effect", this.swarm)],
      this.controls(
        "Search these terms",
        () => this.openFirst(),
        `hide terms that ${100 * GENERAL}% of the rows have`,
        checkbox("group by branch", (isGrouped) => this.change({ isGrouped })),
      ),
      this.status,
      this.swarm,
      this.box,
      note(
        "Effect: how much a term's contribution to the log-odds varies between rows (its standard deviation within ",
        "folds). A term that every row has does not distinguish any rows. Mean size: the mean absolute ",
        "contribution. Difference: the mean contribution with the term minus the mean without it, and the class that ",
        "the term favours. Same direction in: the number of folds in which the difference has the same sign.",
      ),
    );
    return [this.oneTerm, whole, this.place];
  }

  openNamed(name) {
    const { features, names } = this.dataset;
    const column = features.indexOf(name);
    const found = column >= 0 ? column : names.indexOf(name);
    if (found < 0) return;
    setContent(
      this.oneTerm,
      termCard(this.dataset, found, () => this.closeTerm()),
    );
    this.oneTerm.focus({ preventScroll: true });
    this.oneTerm.scrollIntoView();
  }

  closeTerm() {
    setContent(this.oneTerm);
    writeAddress("replaceState", "#features");
  }

  // A search may also find a term that matters little to this model.
  openFirst() {
    const { dataset, state } = this;
    const [line] = this.lines;
    const column = line?.column ?? dataset.features.findIndex((_, j) => termMatches(dataset, j, state.query));
    if (!state.query || column < 0) return;
    setAddress("term", dataset.features[column]);
    this.openNamed(dataset.features[column]);
  }

  draw() {
    const { dataset, state, found: effects } = this;
    const all = effects.columns.map((_, k) => termLine(dataset, effects, k));
    const lines = all.filter(
      (line) => (!state.hidesGeneral || line.share < GENERAL) && termMatches(dataset, line.column, state.query),
    );
    this.lines = lines;
    this.status.textContent =
      `${count(lines.length)} of the ${plural(all.length, "most important term")}, ` +
      `judged by ${plural(effects.rows, "row")} in ${plural(effects.folds, "fold")}.`;
    const shown = lines.filter(({ k }) => k < effects.swarm.length).slice(0, SWARM_SHOWN);
    setContent(this.swarm, shown.length > 0 && beeswarm(dataset, effects, shown));
    this.table = effectTable(dataset, lines);
    setContent(this.place, shown.length > 0 && hierarchyCard(dataset, shown));
    setContent(this.box, state.isGrouped ? branchTables(dataset, lines) : this.table.elements());
  }
}

const differenceColumn = (dataset) =>
  numberColumn("difference", {
    value: ({ gap }) => gap,
    written: (x) => [
      signed(x),
      el("span", { class: x >= 0 ? "sub for" : "sub against" }, "for ", bdi(dataset.classes[x >= 0 ? 1 : 0])),
    ],
    hint: "Mean contribution with the term minus mean contribution without it, and the class that the term favours",
  });

const foldsColumn = numberColumn("same direction in", {
  value: ({ agree }) => agree,
  written: (n, { folds }) => `${n} of ${plural(folds, "fold")}`,
});

function effectTable(dataset, lines) {
  const most = Math.max(1e-9, ...lines.map(({ effect }) => effect));
  const share = (label, c) =>
    numberColumn(`in ${shorten(label, 16)}`, {
      value: (line) => line.shares[c],
      written: (x) => `${percent(x)}%`,
      hint: `Share of the rows of class ${label} that have the term`,
    });
  const termName = ({ column }) => termText(dataset, column);
  const columns = [
    { title: "term", value: termName, cell: ({ column }) => linkedTerm(dataset, column) },
    numberColumn("effect", {
      value: ({ effect }) => effect,
      written: (x, line) => [x.toFixed(3), bar([[line.gap >= 0 ? "up" : "down", 0, line.effect / most]])],
    }),
    numberColumn("mean size", {
      value: ({ absolute }) => absolute,
      written: (x) => x.toFixed(3),
      hint: "Mean absolute contribution",
    }),
    differenceColumn(dataset),
    ...dataset.classes.map(share),
    numberColumn("rows", { value: ({ rows }) => rows, written: count }),
    foldsColumn,
  ];
  const found = new SortedTable("terms by effect", columns, { className: "effects-table", column: 1, first: 20 });
  return found.setRows(lines);
}

// The branches of the hierarchy: the terms directly below its roots. A term in several branches belongs to the one
// whose terms matter most together.
function branchesOf(dataset, lines) {
  const above = memberships(dataset);
  const total = new Map();
  for (const { column, effect } of lines) {
    for (const branch of above(column)) total.set(branch, (total.get(branch) ?? 0) + effect);
  }
  const groups = new Map();
  for (const line of lines) {
    const best = [...above(line.column)].sort((a, b) => total.get(b) - total.get(a) || a - b)[0];
    if (!groups.has(best)) groups.set(best, []);
    groups.get(best).push(line);
  }
  const sum = (group) => sumOf(group.map(({ effect }) => effect));
  return [...groups].map(([branch, group]) => [branch, group, sum(group)]).sort((a, b) => b[2] - a[2]);
}

// The branches above a column, or the column itself if it is at the top.
function memberships(dataset) {
  const known = new Map();
  const find = (column) => {
    if (known.has(column)) return known.get(column);
    const parents = dataset.ontology[column] ?? [];
    known.set(column, new Set(parents.length ? parents.flatMap((p) => [...find(p)]) : [column]));
    return known.get(column);
  };
  return find;
}

function branchTables(dataset, lines) {
  return branchesOf(dataset, lines).map(([branch, group, total], g) =>
    details(
      { class: "branch", open: g < 3 },
      [bdi(termText(dataset, branch)), `: ${plural(group.length, "term")}, effect ${total.toFixed(2)}`],
      effectTable(dataset, group).elements(),
    ),
  );
}
