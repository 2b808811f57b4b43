// The terms in the trees of a method.
function features() {
  const missing = "No method in this study learns trees, or feature usage was not counted.";
  return [
    datasetsWith("effects").length > 0 && new TermView().elements(),
    datasetsWith("usage").length ? new UsageView().elements() : card("How often terms are used", el("p", {}, missing)),
  ];
}

// A method that keeps only some terms is the more interesting one to show first.
const mostSelective = ({ usage }, offered) =>
  offered.find((m) => usage[m].selected.some((n) => n < usage[m].rows)) ?? offered[0];

class UsageView extends MethodView {
  constructor() {
    super("usage", "Method", mostSelective);
    this.table = new SortedTable(
      "Feature usage",
      [
        { title: "term", value: (j) => this.dataset.features[j], cell: (j) => featureLink(this.dataset.features[j]) },
        { title: "name", value: (j) => this.dataset.names[j], cell: (j) => bdi(this.dataset.names[j]) },
        numberColumn("Freq. of Selection", {
          value: (j) => this.found.selected[j],
          written: (n, j) => selectionCell(this.found, n, j),
        }),
        numberColumn("Freq. in Edges", {
          value: (j) => this.found.in_edges[j],
          written: (n, j) => edgesCell(this.found, n, j),
        }),
      ],
      { className: "usage", column: 2, first: 20 },
    );
    this.changeDataset(this.known[0]);
  }

  elements() {
    const contents = () => {
      const [heads, rows] = this.table.contents();
      return [[...heads, "rows"], rows.map((row) => [...row, this.found.rows])];
    };
    return cardWithTools(
      "How often terms are used",
      csvButton("feature usage", contents),
      note(
        "The table shows how often a term is kept in a test row's tree, and how many edges of these trees contain " +
          "the term, over all seeds. Ranks are among all terms. Terms with equal counts share a rank.",
      ),
      this.controls("Search terms", () => {}, `hide terms that are kept for ${100 * GENERAL}% of the rows`),
      this.status,
      this.table.elements(),
    );
  }

  // Ties go to the term in more edges, then to the earlier one.
  draw() {
    const { dataset, found: usage, state } = this;
    const found = [...dataset.features.keys()].filter((j) => termMatches(dataset, j, state.query));
    // Without this, a method that keeps nearly every term for every row, or a search, would show nothing.
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
  bar([[null, 0, n / rows]]),
];

const edgesCell = ({ in_edges: edges, rows }, n, j) => [
  count(n),
  el("span", { class: "sub" }, `rank ${count(rankOf(edges, j))}, ${(n / rows).toFixed(2)} per row`),
  bar([["sum", 0, n / Math.max(1, ...edges)]]),
];

// 1 for the largest count; terms that tie share the best rank.
const rankOf = (counts, j) => 1 + counts.filter((n) => n > counts[j]).length;
