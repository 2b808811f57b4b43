// The terms that the trees of a method are made of.
const FIRST_ROWS = 20;
const MORE_ROWS = 200;

// Text columns are sorted from A to Z first, numbers from the largest down.
const USAGE_COLUMNS = [
  { title: "term", isNumber: false, value: (d, usage, j) => d.features[j] },
  { title: "name", isNumber: false, value: (d, usage, j) => d.names[j] },
  { title: "Freq. of Selection", isNumber: true, value: (d, usage, j) => usage.selected[j] },
  { title: "Freq. in Edges", isNumber: true, value: (d, usage, j) => usage.in_edges[j] },
];

function features() {
  const counted = datasets.map((d, i) => [i, d]).filter(([, d]) => Object.keys(d.usage).length);
  if (!counted.length) {
    const missing = "No method in this study learns trees, or feature usage was not counted.";
    return [termEffects(), card("How often terms are used", el("p", {}, missing))];
  }
  const state = { dataset: counted[0][0], method: null, query: "", column: 2, descending: true, shown: FIRST_ROWS };
  state.hidesGeneral = true;
  const methodBox = el("div", {});
  const usageTable = new UsageTable(state);

  function changeDataset(i) {
    const { usage } = datasets[i];
    const offered = Object.keys(usage).map(Number);
    if (!offered.includes(state.method)) state.method = offered.find((m) => isSelective(usage[m])) ?? offered[0];
    const options = offered.map((m) => [m, methods[m].name]);
    const changeMethod = (m) => usageTable.change({ method: Number(m) });
    setContent(methodBox, selectField("Method", options, changeMethod, state.method));
    usageTable.change({ dataset: Number(i) });
  }

  const datasetOptions = counted.map(([i, d]) => [i, d.name]);
  const controls = el(
    "div",
    { class: "controls" },
    selectField("Dataset", datasetOptions, changeDataset, state.dataset),
    methodBox,
    searchField("Search terms", (query) => usageTable.change({ query })),
    checkbox(
      `hide terms that are kept for ${100 * GENERAL}% of the rows`,
      (hidesGeneral) => usageTable.change({ hidesGeneral }),
      state.hidesGeneral,
    ),
  );
  changeDataset(state.dataset);
  return [
    termEffects(),
    cardWithTools(
      "How often terms are used",
      csvButton("feature usage", () => usageTable.contents()),
      note(
        "How often a term is kept in the tree of a test row, and how many edges of these trees contain it, " +
          "over all seeds; with the rank among all terms, which terms with equal counts share.",
      ),
      controls,
      usageTable.elements(),
    ),
  ];
}

// Whether a method keeps some terms and not others: such a method is the more interesting one to show first.
const isSelective = (usage) => usage.selected.some((n) => n < usage.rows);

class UsageTable {
  constructor(state) {
    this.state = state;
    this.body = el("tbody", {});
    this.status = el("p", { class: "note", role: "status" });
    this.more = el("div", { class: "more" });
    this.heads = USAGE_COLUMNS.map(({ title, isNumber }, c) =>
      el(
        "th",
        { scope: "col", class: isNumber && "num" },
        el("button", { type: "button", onclick: () => this.sortBy(c) }, title),
      ),
    );
  }

  elements() {
    const whole = el("table", { class: "usage" }, el("thead", {}, el("tr", {}, this.heads)), this.body);
    return [this.status, scrollRegion("Feature usage", whole), this.more];
  }

  change(what) {
    Object.assign(this.state, what, { shown: FIRST_ROWS });
    this.draw();
  }

  sortBy(column) {
    const { state } = this;
    state.descending = state.column === column ? !state.descending : USAGE_COLUMNS[column].isNumber;
    state.column = column;
    this.draw();
  }

  // Ties go to the term in more edges, then to the earlier one.
  sortedColumns(dataset, usage) {
    const { value, isNumber } = USAGE_COLUMNS[this.state.column];
    const sign = this.state.descending ? -1 : 1;
    const compare = (a, b) => {
      const [u, v] = [value(dataset, usage, a), value(dataset, usage, b)];
      const inOrder = isNumber ? u - v : u.localeCompare(v);
      return sign * inOrder || usage.in_edges[b] - usage.in_edges[a] || a - b;
    };
    const found = dataset.features.map((_, j) => j).filter((j) => termMatches(dataset, j, this.state.query));
    return this.withoutGeneral(found, usage).sort(compare);
  }

  // A method that keeps nearly every term for every row, or a search, would leave nothing to see.
  withoutGeneral(found, usage) {
    if (!this.state.hidesGeneral || this.state.query) return found;
    const others = found.filter((j) => usage.selected[j] < GENERAL * usage.rows);
    return others.length ? others : found;
  }

  // The heads and all terms that are found, as they are saved.
  contents() {
    const dataset = datasets[this.state.dataset];
    const usage = dataset.usage[this.state.method];
    const row = (j) => [...USAGE_COLUMNS.map(({ value }) => value(dataset, usage, j)), usage.rows];
    return [[...USAGE_COLUMNS.map(({ title }) => title), "rows"], this.sortedColumns(dataset, usage).map(row)];
  }

  draw() {
    const { state } = this;
    const dataset = datasets[state.dataset];
    const usage = dataset.usage[state.method];
    const found = this.sortedColumns(dataset, usage);
    const direction = state.descending ? "descending" : "ascending";
    this.heads.forEach((th, c) => th.setAttribute("aria-sort", c === state.column ? direction : "none"));
    const mostEdges = Math.max(1, ...usage.in_edges);
    setContent(
      this.body,
      found.slice(0, state.shown).map((j) => usageRow(dataset, usage, j, mostEdges)),
    );
    this.status.textContent =
      `${plural(found.length, "term")} of ${count(dataset.features.length)}; ` + plural(usage.rows, "row");
    const left = found.length - state.shown;
    const showMore = () => {
      state.shown += MORE_ROWS;
      this.draw();
    };
    setContent(this.more, left > 0 && button(`Show more (${count(left)} left)`, showMore));
  }
}

function usageRow(dataset, usage, j, mostEdges) {
  const selected = usage.selected[j];
  const edges = usage.in_edges[j];
  const below = (counts, text) => el("span", { class: "sub" }, `rank ${count(rankOf(counts, j))}, ${text}`);
  return el(
    "tr",
    {},
    el("td", {}, featureLink(dataset.features[j])),
    el("td", {}, bdi(dataset.names[j])),
    numberCell(
      count(selected),
      below(usage.selected, `${percent(selected / usage.rows)}%`),
      meter(selected / usage.rows, "meter"),
    ),
    numberCell(
      count(edges),
      below(usage.in_edges, `${(edges / usage.rows).toFixed(2)} per row`),
      meter(edges / mostEdges, "meter second"),
    ),
  );
}

// 1 for the largest count; terms that tie share the best rank.
const rankOf = (counts, j) => 1 + counts.filter((n) => n > counts[j]).length;

function meter(share, className) {
  const width = Math.min(100, 100 * share).toFixed(1) + "%";
  return el("span", { class: className, "aria-hidden": "true" }, el("span", { style: { width } }));
}
