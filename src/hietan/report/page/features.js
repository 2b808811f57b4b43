// The terms that the trees of a method are made of.
function features() {
  const counted = datasets.map((d, i) => [i, d]).filter(([, d]) => Object.keys(d.usage).length);
  if (!counted.length) {
    const missing = "No method in this study learns trees, or feature usage was not counted.";
    return [termEffects(), card("How often terms are used", el("p", {}, missing))];
  }
  return [termEffects(), new UsageView(counted).elements()];
}

// Whether a method keeps some terms and not others: such a method is the more interesting one to show first.
const isSelective = (usage) => usage.selected.some((n) => n < usage.rows);

class UsageView {
  constructor(counted) {
    this.counted = counted;
    this.state = { dataset: counted[0][0], method: null, query: "", hidesGeneral: true };
    this.methodBox = el("div", {});
    this.status = el("p", { class: "note", role: "status" });
    const usage = () => this.usage;
    this.table = new SortedTable(
      "Feature usage",
      [
        { title: "term", value: (j) => this.dataset.features[j], cell: (j) => featureLink(this.dataset.features[j]) },
        { title: "name", value: (j) => this.dataset.names[j], cell: (j) => bdi(this.dataset.names[j]) },
        numberColumn("Freq. of Selection", {
          value: (j) => usage().selected[j],
          written: (n, j) => selectionCell(usage(), n, j),
        }),
        numberColumn("Freq. in Edges", {
          value: (j) => usage().in_edges[j],
          written: (n, j) => edgesCell(usage(), n, j),
        }),
      ],
      { className: "usage", column: 2, first: 20 },
    );
    this.changeDataset(counted[0][0]);
  }

  get dataset() {
    return datasets[this.state.dataset];
  }

  get usage() {
    return this.dataset.usage[this.state.method];
  }

  elements() {
    const options = this.counted.map(([i, d]) => [i, d.name]);
    const [heads] = this.table.contents();
    const contents = () => [[...heads, "rows"], this.table.contents()[1].map((row) => [...row, this.usage.rows])];
    return cardWithTools(
      "How often terms are used",
      csvButton("feature usage", contents),
      note(
        "How often a term is kept in the tree of a test row, and how many edges of these trees contain it, " +
          "over all seeds; with the rank among all terms, which terms with equal counts share.",
      ),
      controls(
        selectField("Dataset", options, (i) => this.changeDataset(Number(i)), this.state.dataset),
        this.methodBox,
        searchField("Search terms", (query) => this.change({ query })),
        checkbox(
          `hide terms that are kept for ${100 * GENERAL}% of the rows`,
          (hidesGeneral) => this.change({ hidesGeneral }),
          true,
        ),
      ),
      this.status,
      this.table.elements(),
    );
  }

  changeDataset(dataset) {
    const { usage } = datasets[dataset];
    const offered = Object.keys(usage).map(Number);
    const isOffered = offered.includes(this.state.method);
    const method = isOffered ? this.state.method : (offered.find((m) => isSelective(usage[m])) ?? offered[0]);
    const options = offered.map((m) => [m, methods[m].name]);
    setContent(
      this.methodBox,
      selectField("Method", options, (m) => this.change({ method: Number(m) }), method),
    );
    this.change({ dataset, method });
  }

  // Ties go to the term in more edges, then to the earlier one.
  change(what) {
    Object.assign(this.state, what);
    const { dataset, usage, state } = this;
    const found = dataset.features.map((_, j) => j).filter((j) => termMatches(dataset, j, state.query));
    // A method that keeps nearly every term for every row, or a search, would leave nothing to see.
    const special = found.filter((j) => usage.selected[j] < GENERAL * usage.rows);
    const shown = state.hidesGeneral && !state.query && special.length ? special : found;
    this.table.setRows(shown.sort((a, b) => usage.in_edges[b] - usage.in_edges[a] || a - b));
    this.status.textContent =
      `${plural(shown.length, "term")} of ${count(dataset.features.length)}; ` + plural(usage.rows, "row");
  }
}

const selectionCell = ({ selected, rows }, n, j) => [
  count(n),
  el("span", { class: "sub" }, `rank ${count(rankOf(selected, j))}, ${percent(n / rows)}%`),
  meter(n / rows),
];

const edgesCell = ({ in_edges: edges, rows }, n, j) => [
  count(n),
  el("span", { class: "sub" }, `rank ${count(rankOf(edges, j))}, ${(n / rows).toFixed(2)} per row`),
  meter(n / Math.max(1, ...edges), "sum"),
];

// 1 for the largest count; terms that tie share the best rank.
const rankOf = (counts, j) => 1 + counts.filter((n) => n > counts[j]).length;

function meter(share, className = null) {
  const width = Math.min(100, 100 * share).toFixed(1) + "%";
  return el("span", { class: "meter", "aria-hidden": "true" }, el("span", { class: className, style: { width } }));
}
