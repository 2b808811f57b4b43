// Which terms matter to a method: how much they move the answer, which way, and who has them.
const GENERAL = 0.95;
const SWARM_SHOWN = 15;

function termEffects() {
  const known = datasets.map((d, i) => [i, d]).filter(([, d]) => Object.keys(d.effects ?? {}).length);
  return known.length ? new TermView(known).elements() : null;
}

// Of some methods, the one with the highest GMean on a dataset: what it has learned is the most worth looking at.
function bestOf(dataset, offered) {
  const gmean = (m) => dataset.quality?.methods[m]?.scores.gmean[0] ?? 0;
  return offered.reduce((best, m) => (gmean(m) > gmean(best) ? m : best));
}

// One term of the list, with all that is said about it.
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

class TermView {
  constructor(known) {
    this.known = known;
    this.state = { dataset: known[0][0], method: null, query: "", hidesGeneral: true, isGrouped: false };
    this.methodBox = el("div", {});
    this.status = el("p", { class: "note", role: "status" });
    this.swarm = el("div", {});
    this.box = el("div", {});
    this.place = el("div", {});
    this.oneTerm = el("div", { class: "shown-here", tabindex: -1 });
    openers.set("term", (name) => this.openNamed(name));
    this.changeDataset(known[0][0]);
  }

  get dataset() {
    return datasets[this.state.dataset];
  }

  elements() {
    const options = this.known.map(([i, d]) => [i, d.name]);
    const change = (what) => this.change(what);
    const general = checkbox(
      `hide terms that ${100 * GENERAL}% of the rows have`,
      (hidesGeneral) => change({ hidesGeneral }),
      true,
    );
    const whole = cardWithTools(
      "Which terms matter",
      [
        csvButton("terms by effect", () => this.table.contents()),
        svgButton("terms by effect", () => this.swarm.querySelector("svg")),
      ],
      controls(
        this.known.length > 1 && selectField("Dataset", options, (i) => this.changeDataset(Number(i)), options[0][0]),
        this.methodBox,
        searchField(
          "Search terms by effect",
          (query) => change({ query }),
          () => this.openFirst(),
        ),
        general,
        checkbox("group by branch", (isGrouped) => change({ isGrouped })),
      ),
      this.status,
      this.swarm,
      this.box,
      this.note(),
    );
    return [this.oneTerm, whole, this.place];
  }

  note() {
    return note(
      "Effect: how much the contribution of a term to the log-odds varies between rows (its standard deviation within ",
      "folds); a term that every row has tells nothing about any of them. Mean size: the mean of the contribution ",
      "without its sign. Difference: the mean contribution with the term minus that without it, and the class for ",
      "which having the term speaks. Folds: in how many of them the difference has the same sign.",
    );
  }

  changeDataset(i) {
    const offered = Object.keys(datasets[i].effects).map(Number);
    const method = offered.includes(this.state.method) ? this.state.method : bestOf(datasets[i], offered);
    const options = offered.map((m) => [m, methods[m].name]);
    const choose = (m) => this.change({ method: Number(m) });
    setContent(this.methodBox, selectField("Model", options, choose, method));
    this.change({ dataset: i, method });
  }

  change(what) {
    Object.assign(this.state, what);
    this.draw();
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

  // What is searched for may also be a term that matters little to this model.
  openFirst() {
    const { dataset, state } = this;
    const [line] = this.lines;
    const column = line?.column ?? dataset.features.findIndex((_, j) => termMatches(dataset, j, state.query));
    if (!state.query || column < 0) return;
    setAddress("term", dataset.features[column]);
    this.openNamed(dataset.features[column]);
  }

  draw() {
    const { dataset, state } = this;
    const effects = dataset.effects[state.method];
    const all = effects.columns.map((_, k) => termLine(dataset, effects, k));
    const lines = all.filter(
      (line) => (!state.hidesGeneral || line.share < GENERAL) && termMatches(dataset, line.column, state.query),
    );
    this.lines = lines;
    this.status.textContent =
      `${count(lines.length)} of the ${plural(all.length, "term")} that matter most, ` +
      `judged by ${plural(effects.rows, "row")} in ${plural(effects.folds, "fold")}.`;
    const shown = lines.filter(({ k }) => k < effects.swarm.length).slice(0, SWARM_SHOWN);
    setContent(this.swarm, shown.length > 0 && beeswarm(dataset, effects, shown));
    this.table = effectTable(dataset, lines);
    setContent(this.place, shown.length > 0 && hierarchyCard(dataset, shown));
    setContent(this.box, state.isGrouped ? branchTables(dataset, lines) : this.table.elements());
  }
}

function effectTable(dataset, lines) {
  const most = Math.max(1e-9, ...lines.map(({ effect }) => effect));
  const towards = ({ gap }) => dataset.classes[gap >= 0 ? 1 : 0];
  const share = (label, c) =>
    numberColumn(`in ${shorten(label, 16)}`, {
      value: (line) => line.shares[c],
      written: (x) => `${percent(x)}%`,
      hint: `Share of the rows of class ${label} that have the term`,
    });
  const speaksFor = (line) =>
    el("span", { class: line.gap >= 0 ? "sub for" : "sub against" }, "for ", bdi(towards(line)));
  const termName = ({ column }) => termText(dataset, column);
  const columns = [
    { title: "term", value: termName, cell: ({ column }) => linkedTerm(dataset, column) },
    numberColumn("effect", {
      value: ({ effect }) => effect,
      written: (x, line) => [x.toFixed(3), meter(line.effect / most, line.gap >= 0 ? "up" : "down")],
    }),
    numberColumn("mean size", {
      value: ({ absolute }) => absolute,
      written: (x) => x.toFixed(3),
      hint: "The mean size of the contribution, whatever its sign",
    }),
    numberColumn("difference", {
      value: ({ gap }) => gap,
      written: (x, line) => [signed(x), speaksFor(line)],
      hint: "The mean contribution with the term minus that without it, and the class that this speaks for",
    }),
    ...dataset.classes.map(share),
    numberColumn("rows", { value: ({ rows }) => rows, written: count }),
    numberColumn("folds", { value: ({ agree }) => agree, written: (n, { folds }) => `${n} of ${folds}` }),
  ];
  const found = new SortedTable("terms by effect", columns, { className: "effects-table", column: 1, first: 20 });
  return found.setRows(lines);
}

// The branches of the hierarchy: the terms directly below its most general ones. A term that is in several belongs to
// the one whose terms matter most together.
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

// For a column, the branches above it, or itself if it is at the top.
function memberships(dataset) {
  const known = new Map();
  const find = (column) => {
    if (known.has(column)) return known.get(column);
    known.set(column, new Set([column])); // a damaged file may hold a cycle
    const parents = dataset.ontology[column] ?? [];
    if (parents.length) known.set(column, new Set(parents.flatMap((p) => [...find(p)])));
    return known.get(column);
  };
  return find;
}

function branchTables(dataset, lines) {
  return branchesOf(dataset, lines).map(([branch, group, total], g) =>
    el(
      "details",
      { class: "branch", open: g < 3 },
      el(
        "summary",
        {},
        bdi(termText(dataset, branch)),
        `: ${plural(group.length, "term")}, effect ${total.toFixed(2)}`,
      ),
      effectTable(dataset, group).elements(),
    ),
  );
}
