// What was run, who ranks where, and how far probabilities can be trusted.
function overview() {
  const metrics = [...new Set(report.rankings.map((r) => r.metric))];
  const tables = [...new Set(report.rankings.map((r) => JSON.stringify([r.tuning, r.setting])))];
  const state = { metric: metrics[0], table: tables[0] };
  const box = el("div");
  const draw = () => clear(box, ranked(report.rankings.find((r) => r.metric === state.metric && JSON.stringify([r.tuning, r.setting]) === state.table)));
  const label = (key) => { const [tuning, setting] = JSON.parse(key); return [setting, tuning === "none" ? "untuned" : "tuned: " + tuning].filter(Boolean).join(", "); };
  const controls = el("div", { class: "controls" },
    pressed("Score", metrics.map((m) => [m, metricName[m] || m]), (m) => { state.metric = m; draw(); }, state.metric),
    tables.length > 1 && choice("Table", tables.map((t) => [t, label(t)]), (t) => { state.table = t; draw(); }, state.table));
  if (report.rankings.length) draw();
  return [whatWasRun(), report.rankings.length ? el("div", { id: "ranking" }, controls, box) : el("p", {}, "No method has results on every dataset."), reliability()];
}

function whatWasRun() {
  const rows = datasets.reduce((sum, d) => sum + d.genes.length, 0);
  const facts = [["datasets", datasets.length], ["methods", methods.length], ["folds", about.folds], ["seeds", about.seeds.length], ["rows, over all datasets", count(rows)]];
  return card("What was run",
    el("dl", { class: "facts" }, facts.map(([what, n]) => el("div", {}, el("dt", {}, what), el("dd", {}, n)))),
    about.command && el("pre", {}, el("code", {}, about.command)),
    about.failures.length > 0 && failures(),
    el("details", {}, el("summary", {}, "Methods, datasets and versions"),
      el("ul", {}, methods.map((m) => el("li", {}, name(m.name), m.description && [": ", el("code", { class: "text" }, m.description)]))),
      scroller("Datasets", el("table", {}, el("thead", {}, el("tr", {}, ["dataset", "rows", "features", "classes"].map((h) => el("th", { scope: "col" }, h)))),
        el("tbody", {}, datasets.map((d) => el("tr", {}, el("th", { scope: "row" }, name(d.name)), el("td", {}, count(d.genes.length)), el("td", {}, count(d.features.length)),
          el("td", {}, d.classes.map((c, k) => [k ? ", " : "", name(c), " ", d.truth.filter((t) => t === k).length]))))))),
      el("p", { class: "note" }, Object.entries(about.versions).map(([k, v]) => `${k} ${v}`).join(", "))),
    el("p", { class: "note" }, "Every row is predicted once per seed, by a model that never saw it. Genes and explanations below are those of the first seed."));
}

function failures() {
  return el("details", { open: true }, el("summary", {}, plural(about.failures.length, "job") + " failed"),
    el("ul", {}, about.failures.slice(0, 50).map(([d, m, seed, fold, error]) => el("li", {}, name(d), ", ", name(m), `, seed ${seed}, fold ${fold}: `, name(error)))));
}

function ranked(ranking) {
  const order = ranking.methods.map((_, i) => i).sort((a, b) => ranking.ranks[a] - ranking.ranks[b]);
  const label = metricName[ranking.metric] || ranking.metric;
  return [
    el("div", { class: "grid ranks" },
      card("Ranking by " + label, rankingTable(ranking, order)),
      card("Critical difference", ranking.critical_difference === null
        ? el("p", { class: "note" }, "The diagram needs at least two methods and two datasets.")
        : [redrawn((width) => criticalDifference(ranking, order, width)),
          el("p", { class: "note" }, "A bar joins methods whose average ranks Nemenyi's test (0.05) does not tell apart. ",
            Object.keys(ranking.group_ranks).length > 0 && "The datasets show the same genes in several ways, so this test is too ready to see differences; the ranks per group stand in the table.")])),
    card(`${label}${ranking.metric === "gmean" ? " in percent" : ""}: datasets by methods`, heatMap(ranking, order)),
  ];
}

function rankingTable(ranking, order) {
  const holm = new Map(ranking.holm.map(([m, p, adjusted]) => [m, [p, adjusted]]));
  const groups = Object.keys(ranking.group_ranks);
  const head = ["method", "average rank", "wins", "mean", ...(ranking.intervals.length ? ["95 % of draws"] : []), ...(ranking.holm.length ? ["p (Holm)"] : []), ...groups];
  const rows = order.map((i) => {
    const m = ranking.methods[i], p = holm.get(m);
    const cells = [ranking.ranks[i].toFixed(2), ranking.wins[i], inMetric(ranking.means[i], ranking.metric)];
    if (ranking.intervals.length) cells.push(ranking.intervals[i].map((x) => inMetric(x, ranking.metric)).join("–"));
    if (ranking.holm.length) cells.push(p ? small(p[1]) : "best");
    return el("tr", {}, el("th", { scope: "row" }, name(methods[m].name)), [...cells, ...groups.map((g) => ranking.group_ranks[g][i].toFixed(2))].map((c) => el("td", { class: "num" }, c)));
  });
  return [
    scroller("Ranking", el("table", { class: "ranking" }, el("thead", {}, el("tr", {}, head.map((h, k) => el("th", { scope: "col", class: k ? "num" : "" }, name(h))))), el("tbody", {}, rows))),
    el("p", { class: "note" }, "Rank 1 is best. ", ranking.holm.length > 0 && "p: two-sided against the best, adjusted by Holm. ",
      ranking.intervals.length > 0 && "Draws: a bootstrap over rows, drawn in all datasets of a group together. ",
      groups.length > 0 && "Columns on the right: average ranks per group of datasets. ",
      ranking.friedman && `Friedman's chi-squared ${ranking.friedman[0].toFixed(2)}, p ${small(ranking.friedman[1])}. `,
      ranking.left_out.length > 0 && ["Left out, with results missing: ", ranking.left_out.map((m) => [name(m), " "])]),
  ];
}

function criticalDifference(ranking, order, width) {
  const k = order.length, half = Math.ceil(k / 2), side = Math.min(170, width * 0.33), row = 24;
  const x = (rank) => side + ((rank - 1) / Math.max(1, k - 1)) * (width - 2 * side);
  const top = 62, first = top + 22 + 12 * ranking.cliques.length, height = first + row * half + 6;
  const rank = new Map(ranking.methods.map((m, i) => [m, ranking.ranks[i]]));
  const words = order.map((i) => `${methods[ranking.methods[i]].name} ${ranking.ranks[i].toFixed(2)}`).join(", ");
  const picture = svg("svg", { width, height, role: "img", "aria-label": `Average ranks: ${words}. Critical difference ${ranking.critical_difference.toFixed(2)}.` });
  const line = (x1, y1, x2, y2, cls) => picture.append(svg("line", { x1, y1, x2, y2, class: cls }));
  const text = (tx, ty, words, anchor, full) => picture.append(svg("text", { x: tx, y: ty, "text-anchor": anchor }, full && svg("title", {}, full), words));
  const cd = Math.min(ranking.critical_difference, k - 1);
  line(x(1), 26, x(1 + cd), 26, "axis"); line(x(1), 21, x(1), 31, "axis"); line(x(1 + cd), 21, x(1 + cd), 31, "axis");
  text(x(1), 14, `critical difference ${ranking.critical_difference.toFixed(2)}`, "start");
  line(x(1), top, x(k), top, "axis");
  for (let tick = 1; tick <= k; tick++) { line(x(tick), top - 6, x(tick), top, "axis"); text(x(tick), top - 10, tick, "middle"); }
  ranking.cliques.forEach((clique, c) => line(x(rank.get(clique[0])) - 3, top + 12 + 12 * c, x(rank.get(clique[clique.length - 1])) + 3, top + 12 + 12 * c, "clique"));
  const room = Math.floor(side / 7.2) - 5;
  order.forEach((i, place) => {
    const left = place < half, at = x(ranking.ranks[i]), y = first + row * (left ? place : k - 1 - place) + 8;
    const end = left ? side - 8 : width - side + 8, full = methods[ranking.methods[i]].name;
    picture.append(svg("path", { d: `M${at},${top}V${y}H${end}`, class: "stem" }), svg("circle", { cx: at, cy: top, r: 3, fill: "currentColor" }));
    const shown = shorten(full, Math.max(6, room)), value = ranking.ranks[i].toFixed(2);
    text(left ? end - 4 : end + 4, y + 4, left ? `${shown}  ${value}` : `${value}  ${shown}`, left ? "end" : "start", full);
  });
  return picture;
}

// From pale to deep; the text is black or white, whichever is easier to read on it.
function heatColour(share) {
  const stops = [[247, 244, 233], [190, 218, 203], [95, 168, 178], [38, 98, 150], [24, 45, 97]];
  const at = Math.min(0.9999, Math.max(0, share)) * (stops.length - 1), low = Math.floor(at), t = at - low;
  const rgb = stops[low].map((v, i) => Math.round(v + t * (stops[low + 1][i] - v)));
  const [r, g, b] = rgb.map((v) => { const c = v / 255; return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; });
  return [`rgb(${rgb.join(",")})`, 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.179 ? "#000000" : "#ffffff"];
}

function heatMap(ranking, order) {
  const all = ranking.scores.flat().filter((v) => v !== null), low = Math.min(...all), high = Math.max(...all);
  const group = new Map(datasets.map((d) => [d.name, d.group]));
  const rows = ranking.datasets.map((dataset, d) => {
    const best = Math.max(...ranking.scores[d]);
    const cells = order.map((i) => {
      const v = ranking.scores[d][i], spread = ranking.spread[d][i];
      const [background, color] = heatColour(high > low ? (v - low) / (high - low) : 0.5);
      return el("td", { style: { background, color }, title: spread === null ? null : `± ${inMetric(spread, ranking.metric)} over the seeds` },
        v === best && v > Math.min(...ranking.scores[d]) ? el("span", { class: "best" }, inMetric(v, ranking.metric)) : inMetric(v, ranking.metric));
    });
    const first = d > 0 && group.get(dataset) !== group.get(ranking.datasets[d - 1]);
    return el("tr", { class: first ? "first" : null }, el("th", { scope: "row" }, name(dataset, { title: dataset })), cells);
  });
  return [scroller("Scores of methods on datasets", el("table", { class: "heat", "data-metric": ranking.metric },
    el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "dataset"), order.map((i) => el("th", { scope: "col", class: "num" }, name(methods[ranking.methods[i]].name))))), el("tbody", {}, rows))),
  el("p", { class: "note" }, "Underlined: the best on a dataset. Methods from left to right by average rank.")];
}

function reliability() {
  const known = Object.keys(report.reliability).filter((d) => Object.keys(report.reliability[d]).length);
  if (!known.length) return null;
  const box = el("div");
  const draw = (dataset) => {
    const curves = Object.entries(report.reliability[dataset]).map(([m, c]) => [Number(m), c]);
    clear(box,
      el("div", { class: "grid two" }, redrawn((width) => curvePicture(curves, Math.min(width, 520))),
        el("div", {}, el("ul", { class: "legend" }, curves.map(([m]) => el("li", {}, key(m), name(methods[m].name)))),
          el("p", { class: "note" }, "Rows in ten bins of the predicted probability of the second class: its mean against the share of rows that are of that class. A larger point stands for more rows. On the diagonal, probabilities can be taken at their word; below it on the right, they are too sure."),
          el("details", {}, el("summary", {}, "As a table"), curveTable(curves)))));
  };
  draw("");
  return card("Reliability", el("div", { class: "controls" }, choice("Dataset", known.map((d) => [d, d || "all datasets"]), draw, "")), box);
}

const dashes = ["", "7 4", "2 4", "9 3 2 3"];
const stroke = (m) => ({ stroke: `var(--s${m % 8})`, "stroke-width": 2, fill: "none", "stroke-dasharray": dashes[Math.floor(m / 8) % 4] });
const key = (m) => svg("svg", { width: 26, height: 12, "aria-hidden": "true" }, svg("path", { d: "M0,6H26", ...stroke(m) }), svg("circle", { cx: 13, cy: 6, r: 4, fill: `var(--s${m % 8})` }));

function curvePicture(curves, width) {
  const m = { left: 44, right: 12, top: 10, bottom: 40 }, size = width - m.left - m.right, height = Math.min(360, size) + m.top + m.bottom;
  const x = (v) => m.left + v * size, y = (v) => height - m.bottom - v * (height - m.top - m.bottom);
  const picture = svg("svg", { width, height, role: "img", "aria-label": "Reliability curves; the table below has the numbers." });
  for (const v of [0, 0.25, 0.5, 0.75, 1]) {
    picture.append(svg("path", { d: `M${x(0)},${y(v)}H${x(1)}M${x(v)},${y(0)}V${y(1)}`, class: "grid-line" }),
      svg("text", { x: x(v), y: height - m.bottom + 16, "text-anchor": "middle", class: "soft" }, v), svg("text", { x: m.left - 6, y: y(v) + 4, "text-anchor": "end", class: "soft" }, v));
  }
  picture.append(svg("path", { d: `M${x(0)},${y(0)}L${x(1)},${y(1)}`, class: "axis", "stroke-dasharray": "3 3" }),
    svg("text", { x: x(0.5), y: height - 6, "text-anchor": "middle", class: "soft" }, "predicted probability"),
    svg("text", { x: 12, y: y(0.5), "text-anchor": "middle", class: "soft", transform: `rotate(-90 12 ${y(0.5)})` }, "observed share"));
  for (const [i, [predicted, observed, n]] of curves) {
    const most = Math.max(...n);
    picture.append(svg("path", { d: "M" + predicted.map((p, k) => `${x(p)},${y(observed[k])}`).join("L"), ...stroke(i) }),
      predicted.length ? svg("g", { fill: `var(--s${i % 8})` }, predicted.map((p, k) => svg("circle", { cx: x(p), cy: y(observed[k]), r: 2 + 4 * Math.sqrt(n[k] / most) },
        svg("title", {}, `${methods[i].name}: predicted ${p.toFixed(2)}, observed ${observed[k].toFixed(2)}, ${plural(n[k], "row")}`)))) : "");
  }
  return picture;
}

function curveTable(curves) {
  return scroller("Reliability", el("table", {}, el("thead", {}, el("tr", {}, ["method", "predicted", "observed", "rows"].map((h, i) => el("th", { scope: "col", class: i ? "num" : "" }, h)))),
    el("tbody", {}, curves.flatMap(([m, [p, o, n]]) => p.map((v, k) => el("tr", {}, el("th", { scope: "row" }, name(methods[m].name)), [v.toFixed(3), o[k].toFixed(3), count(n[k])].map((c) => el("td", { class: "num" }, c))))))));
}
