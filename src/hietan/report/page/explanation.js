// Why one method says what it says of one gene: the tree, the sum, and what was left out.
const className = (dataset, label) => dataset.classes[dataset.labels.indexOf(label)] ?? label;

function explanationPanel(dataset, entry, m) {
  const raw = entry.methods[m], title = methods[m].name;
  const panel = el("section", { class: "panel", "aria-label": "Explanation by " + title }, el("h3", {}, name(title)));
  if (!raw) return fill(panel, {}, [el("p", { class: "note" }, "This method offers no explanations.")]);
  const why = { ...raw, target: className(dataset, raw.target) };
  const n = why.features.length + why.rest[0], hasTree = why.tree && why.parents.some((p) => p >= 0);
  return fill(panel, {}, [
    el("p", {}, "P(", name(why.target), ") = ", el("strong", {}, probability(why.probability)), `, log-odds ${signed(why.log_odds, 3)}, from ${plural(n, "feature")}`,
      why.removed.length > 0 && `; ${count(why.removed.reduce((sum, g) => sum + g[3].length, 0))} left out`, "."),
    el("h4", {}, "The learned tree"),
    hasTree ? treeView(dataset, why, title) : el("p", { class: "note" }, "This method learns no tree."),
    hasTree && why.rest[0] > 0 && el("p", { class: "note" }, `Drawn are the strongest features and what joins them to the root; ${plural(why.rest[0], "weaker one")} add ${signed(why.rest[1])} together.`),
    el("h4", {}, "How the log-odds add up"), waterfall(dataset, why), removedTerms(dataset, why)]);
}

function waterfall(dataset, why, limit = 12) {
  const order = why.contributions.map((_, i) => i).sort((a, b) => Math.abs(why.contributions[b]) - Math.abs(why.contributions[a]));
  const rest = order.slice(limit), steps = [[["base value"], "", why.base]];
  for (const i of order.slice(0, limit)) steps.push([term(dataset, why.features[i]), why.values[i], why.contributions[i]]);
  if (rest.length + why.rest[0]) steps.push([[plural(rest.length + why.rest[0], "weaker feature") + ", together"], "", rest.reduce((s, i) => s + why.contributions[i], why.rest[1])]);
  for (const [what, v] of why.other) steps.push([[what], "", v]);
  let at = 0, low = 0, high = 0;
  const spans = steps.map(([, , v]) => { const from = at; at += v; low = Math.min(low, at); high = Math.max(high, at); return [from, at]; });
  const width = high - low || 1, where = (v) => ((v - low) / width) * 100;
  const bar = ([a, b], cls) => el("span", { class: "track", "aria-hidden": "true" }, el("i", { style: { left: where(0) + "%" } }),
    el("span", { class: cls, style: { left: Math.min(where(a), where(b)) + "%", width: Math.abs(where(b) - where(a)) + "%" } }));
  const row = (label, value, v, span, cls) => el("tr", {}, el("th", { scope: "row" }, label), el("td", { class: "num" }, value), el("td", { class: "num" }, signed(v, 3)), el("td", { class: "bar" }, bar(span, cls)));
  return scroller("Contributions", el("table", { class: "fall" },
    el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "what"), el("th", { scope: "col", class: "num" }, "value"), el("th", { scope: "col", class: "num" }, "adds"), el("th", { scope: "col" }, "sum so far"))),
    el("tbody", {}, steps.map(([label, value, v], s) => row(label, value, v, spans[s], s === 0 ? "sum" : v >= 0 ? "up" : "down")), row(el("strong", {}, "log-odds of ", name(why.target)), "", why.log_odds, [0, at], "sum"))));
}

function removedTerms(dataset, why) {
  const all = why.removed.flatMap(([by, reason, value, columns]) => columns.map((j) => [j, value, by, dataset.reasons[reason]]));
  if (!all.length) return null;
  const box = el("div"), list = el("ul", { class: "gone", tabindex: 0, "aria-label": "Removed terms" });
  const line = ([j, value, by, reason]) => { const [before, after] = reason.split("{}"); return el("li", {}, term(dataset, j), `, which is ${value}: ${before}`, after === undefined ? "" : [term(dataset, by), after]); };
  const draw = (query) => {
    const found = all.filter(([j]) => !query || (dataset.features[j] + " " + dataset.names[j]).toLowerCase().includes(query));
    clear(list, found.slice(0, 300).map(line), found.length > 300 ? el("li", { class: "note" }, `and ${count(found.length - 300)} more: search for them`) : "");
  };
  const details = el("details", { class: "removed", ontoggle: () => { if (details.open && !box.firstChild) { fill(box, {}, [searchBox("Search removed terms", draw), list]); draw(""); } } },
    el("summary", {}, `${plural(all.length, "term")} removed as redundant for this gene`), box);
  return details;
}
