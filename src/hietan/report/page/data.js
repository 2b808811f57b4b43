// What the page is about, and how its numbers are written.
const report = JSON.parse(document.getElementById("data").textContent);
const { methods, datasets, about } = report;
const isStudy = report.kind === "study";

const signed = (x, digits = 2) => (x === null ? "–" : Math.abs(x) >= 1e8 ? (x > 0 ? "+∞" : "−∞") : (x < 0 ? "−" : "+") + Math.abs(x).toFixed(digits));
const percent = (x) => (100 * x).toFixed(1);
const inMetric = (x, metric) => (x === null ? "–" : metric === "gmean" ? percent(x) : x.toFixed(3));
const small = (p) => (p < 0.001 ? p.toExponential(1).replace("-", "−") : p.toFixed(3));
const count = (n) => n.toLocaleString("en");
const plural = (n, word) => `${count(n)} ${word}${n === 1 ? "" : "s"}`;
const sigmoid = (x) => 1 / (1 + Math.exp(-x));
const probability = (p) => (p > 0.9995 && p < 1 ? "> 0.999" : p < 0.0005 && p > 0 ? "< 0.001" : p.toFixed(3));
const metricName = { gmean: "GMean", auc: "AUC" };
const symbolOf = (dataset, row) => dataset.symbols?.[row] || "";
const nameOf = (dataset) => dataset.name || "these genes";

for (const dataset of datasets) {
  dataset.entries = new Map(dataset.explained.map((entry) => [entry.row, entry]));
  dataset.known = new Set(dataset.in_training || []);
}

function children(dataset) {
  if (!dataset.below) {
    dataset.below = dataset.features.map(() => []);
    dataset.ontology.forEach((parents, j) => parents.forEach((p) => dataset.below[p].push(j)));
  }
  return dataset.below;
}

const isTerm = (feature) => /^GO:\d{7}$/.test(feature);

function term(dataset, j) {
  const feature = dataset.features[j], text = dataset.names[j];
  const id = isTerm(feature)
    ? el("a", { href: "https://www.ebi.ac.uk/QuickGO/term/" + feature, rel: "noopener noreferrer", target: "_blank" }, feature)
    : name(feature);
  return text && text !== feature ? [name(text), " ", el("span", { class: "note" }, "(", id, ")")] : [id];
}

const plainTerm = (dataset, j) => (dataset.names[j] && dataset.names[j] !== dataset.features[j] ? dataset.names[j] : dataset.features[j]);

// One argument of a command, as a shell reads it.
const quoted = (text) => (/^[\w@%+=:,./-]+$/.test(text) ? text : "'" + text.replaceAll("'", "'\\''") + "'");
