// The terms that the trees of a method are made of.
function features() {
  const counted = datasets.map((d, i) => [i, d]).filter(([, d]) => Object.keys(d.usage).length);
  if (!counted.length) return [card("Features", el("p", {}, "No method of this study learns trees, or their use of features was not counted."))];
  const state = { dataset: counted[0][0], method: null, query: "", column: 2, down: true, shown: 50 };
  const methodBox = el("div"), body = el("tbody"), status = el("p", { class: "note", role: "status" }), more = el("div", { class: "more" });
  const columns = ["term", "name", "Freq. of Selection", "Freq. in Edges"];
  const heads = columns.map((text, c) => el("th", { scope: "col", class: c > 1 ? "num" : "" }, el("button", { type: "button", onclick: () => {
    state.down = state.column === c ? !state.down : c > 1;
    state.column = c; draw();
  } }, text)));
  const value = (d, usage, j) => [d.features[j], d.names[j], usage.selected[j], usage.in_edges[j]];

  function chooseDataset(i) {
    state.dataset = Number(i);
    const offered = Object.keys(datasets[i].usage).map(Number);
    if (!offered.includes(state.method)) state.method = offered.find((m) => selective(datasets[i].usage[m])) ?? offered[0];
    clear(methodBox, choice("Method", offered.map((m) => [m, methods[m].name]), (m) => { state.method = Number(m); state.shown = 50; draw(); }, state.method));
    state.shown = 50; draw();
  }

  function draw() {
    const d = datasets[state.dataset], usage = d.usage[state.method];
    const rows = d.features.map((_, j) => j).filter((j) => !state.query || d.features[j].toLowerCase().includes(state.query) || d.names[j].toLowerCase().includes(state.query));
    const sign = state.down ? -1 : 1;
    rows.sort((a, b) => { const [u, v] = [value(d, usage, a), value(d, usage, b)], c = state.column;
      return sign * (c < 2 ? u[c].localeCompare(v[c]) : u[c] - v[c]) || v[3] - u[3] || a - b; });
    heads.forEach((th, c) => th.setAttribute("aria-sort", c !== state.column ? "none" : state.down ? "descending" : "ascending"));
    const most = Math.max(1, ...usage.in_edges);
    clear(body, rows.slice(0, state.shown).map((j) => el("tr", {},
      el("td", {}, isTerm(d.features[j]) ? term({ features: d.features, names: [] }, j) : name(d.features[j])), el("td", {}, name(d.names[j])),
      el("td", { class: "num" }, count(usage.selected[j]), el("span", { class: "sub" }, percent(usage.selected[j] / usage.rows), " %"), meter(usage.selected[j] / usage.rows)),
      el("td", { class: "num" }, count(usage.in_edges[j]), el("span", { class: "sub" }, (usage.in_edges[j] / usage.rows).toFixed(2), " per row"), meter(usage.in_edges[j] / most, "second")))));
    status.textContent = `${plural(rows.length, "term")} of ${count(d.features.length)}; ${plural(usage.rows, "row")}`;
    clear(more, rows.length > state.shown && el("button", { class: "button", type: "button", onclick: () => { state.shown += 200; draw(); } }, `Show more (${count(rows.length - state.shown)} left)`));
  }

  const part = card("Features",
    el("p", { class: "note" }, "How often a term is kept in the tree of a test row, and how many edges of all these trees contain it."),
    el("div", { class: "controls" }, choice("Dataset", counted.map(([i, d]) => [i, d.name]), chooseDataset, state.dataset), methodBox, searchBox("Search terms", (q) => { state.query = q; state.shown = 50; draw(); })),
    status, scroller("Feature usage", el("table", { class: "usage" }, el("thead", {}, el("tr", {}, heads)), body)), more);
  chooseDataset(state.dataset);
  return [part];
}

const selective = (usage) => usage.selected.some((n) => n < usage.rows);
const meter = (share, cls) => el("span", { class: "meter " + (cls || ""), "aria-hidden": "true" }, el("span", { style: { width: Math.min(100, 100 * share).toFixed(1) + "%" } }));
