// Genes: find one, see what each method says of it, and why.
const PAGE = 40;

function genes() {
  const all = datasets.flatMap((d, i) => d.genes.map((gene, row) => ({ d, i, row, gene, low: searched(d, row, gene) })));
  if (isStudy) all.sort((a, b) => b.d.entries.has(b.row) - a.d.entries.has(a.row));
  const state = { query: "", dataset: "", only: false, shown: PAGE, chosen: null };
  const list = el("ul", { class: "genes" }), status = el("p", { class: "note", role: "status" }), more = el("div", { class: "more" });
  const detail = el("div", { id: "gene", tabindex: -1 });
  const draw = () => {
    const found = all.filter((g) => (state.dataset === "" || g.i === state.dataset) && (!state.only || g.d.entries.has(g.row)) && g.low.includes(state.query));
    status.textContent = `${plural(found.length, "gene")}${datasets.length > 1 && state.dataset === "" ? ", counted once for every dataset" : ""}`;
    clear(list, found.slice(0, state.shown).map((g) => el("li", {}, geneButton(g, state, () => choose(g)))));
    clear(more, found.length > state.shown && el("button", { type: "button", class: "button", onclick: () => { state.shown += 5 * PAGE; draw(); } }, `Show more (${count(found.length - state.shown)} left)`));
  };
  const choose = (g, quiet) => {
    state.chosen = g; draw();
    clear(detail, geneDetail(g, (other) => choose(other)));
    if (!quiet) { detail.focus({ preventScroll: true }); if (innerWidth < 960) detail.scrollIntoView(); }
  };
  const only = el("input", { type: "checkbox", id: newId("only"), onchange: () => { state.only = only.checked; state.shown = PAGE; draw(); } });
  const side = card(isStudy ? "Genes" : "Candidates, the likeliest first",
    el("div", { class: "controls" }, searchBox("Search a gene", (q) => { state.query = q; state.shown = PAGE; draw(); }),
      datasets.length > 1 && choice("Dataset", [["", "all datasets"], ...datasets.map((d, i) => [i, d.name])], (v) => { state.dataset = v === "" ? "" : Number(v); state.shown = PAGE; draw(); }, ""),
      el("div", { class: "check" }, only, el("label", { for: only.id }, "explained only"))),
    status, el("div", { class: "list-box", tabindex: 0, role: "region", "aria-label": "Genes found" }, list), more);
  const first = isStudy ? all.find((g) => g.i === 0 && g.d.entries.has(g.row) && drawn(g) === Math.max(...all.filter((o) => o.i === 0).map(drawn))) || all[0] : all[0];
  if (first) choose(first, true); else draw();
  return [!isStudy && candidatesIntro(), el("div", { class: "grid side" }, side, detail)];
}

// How much there is to see of a gene that the methods got right: the features of the smallest tree.
function drawn(g) {
  const entry = g.d.entries.get(g.row);
  return entry && entry.why !== "sure and wrong" ? Math.min(...Object.values(entry.methods).filter((why) => why.tree).map((why) => why.features.length), 1e9) % 1e9 : 0;
}

const searched = (d, row, gene) => `${gene} ${symbolOf(d, row)}`.toLowerCase();
const geneName = (g) => { const symbol = symbolOf(g.d, g.row); return [name(g.gene), symbol && [" ", el("span", { class: "symbol" }, name(symbol))]]; };

function candidatesIntro() {
  return card("What this is", el("p", {}, name(about.model)), el("p", { class: "caution" }, el("strong", {}, "Mind: "), el("bdi", {}, about.caution)));
}

function geneButton(g, state, onclick) {
  const predictions = Object.values(g.d.predictions), explained = g.d.entries.has(g.row);
  const attributes = { type: "button", "aria-current": g === state.chosen, onclick };
  const mark = explained && el("span", { class: "pill" }, "explained");
  if (!isStudy) {
    const odds = predictions[0].log_odds[g.row];
    return el("button", attributes, el("strong", {}, el("span", { class: "rank" }, g.row + 1), geneName(g)), el("span", {}, signed(odds)),
      el("span", { class: "sub" }, explained ? reasonsOf(g) : "", g.d.known.has(g.row) && [" ", el("span", { class: "pill" }, "in the training data")]));
  }
  const right = predictions.filter((p) => p.predicted[g.row] === g.d.truth[g.row]).length;
  return el("button", attributes, el("strong", {}, geneName(g)), el("span", {}, mark),
    el("span", { class: "sub" }, name(g.d.name), "; ", name(g.d.classes[g.d.truth[g.row]]), `; right: ${right} of ${plural(predictions.length, "method")}`));
}

// The three features that speak most for the class that the log-odds are of.
function reasonsOf(g) {
  const why = g.d.entries.get(g.row).methods[0];
  const top = why.contributions.map((c, i) => [c, i]).filter(([c]) => c > 0).sort((a, b) => b[0] - a[0]).slice(0, 3);
  return top.map(([c, i], k) => [k ? "; " : "", why.values[i] ? "" : "no ", name(shorten(plainTerm(g.d, why.features[i]), 48)), " ", signed(c, 1)]);
}

function geneDetail(g, go) {
  const { d, row } = g, entry = d.entries.get(row);
  const elsewhere = isStudy ? datasets.map((other, i) => ({ d: other, i, row: other === d || other.group !== d.group || !d.group ? -1 : other.genes.indexOf(g.gene), gene: g.gene })).filter((o) => o.row >= 0) : [];
  const parts = [card(null, el("h2", {}, "Gene ", geneName(g)),
    el("p", {}, isStudy ? ["Dataset ", name(d.name), "; true class ", el("strong", {}, name(d.classes[d.truth[row]])), entry && `; ${entry.why}`, "."] : [`Rank ${count(row + 1)} of ${count(d.genes.length)}.`, d.known.has(row) && " The model was trained on this gene and knew its class."]),
    scoreTable(d, row),
    elsewhere.length > 0 && el("p", { class: "note" }, "The same gene in ", elsewhere.map((o, k) => [k ? " " : "", el("button", { type: "button", class: "button", onclick: () => go(allOf(o)) }, name(o.d.name))])),
    !entry && howToExplain(g))];
  if (entry) parts.push(explanations(d, entry));
  return parts;
}

const allOf = (o) => ({ ...o, low: searched(o.d, o.row, o.gene) });

function scoreTable(d, row) {
  const lines = Object.entries(d.predictions).map(([m, p]) => {
    const odds = p.log_odds ? p.log_odds[row] : null, right = isStudy && p.predicted[row] === d.truth[row];
    const proba = odds !== null ? sigmoid(odds) : p.probability ? p.probability[row] : null;
    return el("tr", {}, el("th", { scope: "row" }, name(methods[m].name)), el("td", {}, name(d.classes[p.predicted[row]] ?? "?")), isStudy && el("td", {}, el("span", { class: "pill " + (right ? "right" : "wrong") }, right ? "✓ right" : "✗ wrong")),
      el("td", { class: "num" }, odds === null ? "–" : signed(odds)), el("td", { class: "num" }, proba === null ? "–" : probability(proba)));
  });
  const of = d.classes.length === 2 ? d.classes[1] : "predicted class";
  return scroller("Scores of the methods", el("table", { class: "scores" }, el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "method"), el("th", { scope: "col" }, "predicted"), isStudy && el("th", { scope: "col" }, "verdict"),
    el("th", { scope: "col", class: "num" }, "log-odds"), el("th", { scope: "col", class: "num" }, "P(", name(shorten(of, 24)), ")"))), el("tbody", {}, lines)));
}

function howToExplain(g) {
  const command = isStudy ? `${about.command || "hietan study ..."} --genes ${quoted(g.gene)}` : `${about.command} --gene ${quoted(g.gene)}`;
  return [el("p", {}, isStudy ? "Not explained in this report. This command, run with the study's own directory as --output, runs nothing again and adds the explanation to the report:" : "This command explains it in a terminal:"), el("pre", {}, el("code", { class: "command" }, command))];
}

function explanations(d, entry) {
  const offered = Object.keys(entry.methods).map(Number), box = el("div");
  const lazy = offered.find((m) => entry.methods[m].removed.length && entry.methods[m].tree);
  const state = { first: remembered.first !== null && offered.includes(remembered.first) ? remembered.first : lazy ?? offered[0], second: offered.includes(remembered.second) ? remembered.second : "" };
  const draw = () => {
    remembered.first = state.first; remembered.second = state.second;
    const shown = [state.first, ...(state.second === "" ? [] : [state.second])];
    clear(box, el("div", { class: "panels" + (shown.length > 1 ? " two" : "") }, shown.map((m) => explanationPanel(d, entry, m))));
  };
  draw();
  return card("Why", offered.length > 1 && el("div", { class: "controls" },
    choice("Method", offered.map((m) => [m, methods[m].name]), (v) => { state.first = Number(v); draw(); }, state.first),
    choice("Beside it", [["", "no second method"], ...offered.map((m) => [m, methods[m].name])], (v) => { state.second = v === "" ? "" : Number(v); draw(); }, state.second)), box);
}
const remembered = { first: null, second: "" };
