// The content of the report, and how its numbers are written.
const report = JSON.parse(document.getElementById("data").textContent);
const methods = report.methods;
const datasets = report.datasets;
const about = report.about;
const isStudy = report.kind === "study";

// JSON has no infinity: numbers of this size stand for it.
const INFINITE = 1e8;

function signed(x, digits = 2) {
  if (x === null) return "–";
  const size = Math.abs(x) >= INFINITE ? "∞" : Math.abs(x).toFixed(digits);
  return (x < 0 ? "−" : "+") + size;
}

function probability(p) {
  if (p > 0.9995) return "> 0.999"; // numbers in the file are rounded, so 1 may be a little less
  if (p < 0.0005) return "< 0.001";
  return p.toFixed(3);
}

const percent = (x) => (100 * x).toFixed(1);
const pValue = (p) => (p < 0.001 ? p.toExponential(1).replace("-", "−") : p.toPrecision(p < 0.01 ? 2 : 3));
const count = (n) => n.toLocaleString("en");
const plural = (n, word) => `${count(n)} ${word}${n === 1 ? "" : "s"}`;
const sigmoid = (x) => 1 / (1 + Math.exp(-x));
const towards = (adds) => (adds >= 0 ? "var(--pro)" : "var(--anti)");
const byStrength = (values) => [...values.keys()].sort((a, b) => Math.abs(values[b]) - Math.abs(values[a]));
const sumOf = (numbers) => numbers.reduce((sum, x) => sum + x, 0);

const metricOf = (metric) => report.metrics[metric];

const inMetric = (x) => (x === null ? "–" : x.toFixed(3));

for (const dataset of datasets) {
  dataset.explanations = new Map(dataset.explained.map((entry) => [entry.row, entry]));
  dataset.trainingRows = new Set(dataset.in_training || []);
}

// What the rows are called; datasets may disagree.
const nouns = new Set(datasets.map((dataset) => dataset.row_noun));
const rowNoun = nouns.size === 1 ? [...nouns][0] : "row";
const rowNouns = rowNoun + "s";
const capitalised = (word) => word.charAt(0).toUpperCase() + word.slice(1);

const symbolOf = (dataset, row) => dataset.symbols?.[row] || "";
const classOfLabel = (dataset, label) => dataset.classes[dataset.labels.indexOf(label)] ?? label;

// The columns directly below each column, computed on first use.
function childrenOf(dataset, column) {
  if (!dataset.below) {
    dataset.below = dataset.features.map(() => []);
    dataset.ontology.forEach((parents, j) => parents.forEach((p) => dataset.below[p].push(j)));
  }
  return dataset.below[column] || [];
}

// Where terms are described, by the prefix of their identifiers.
const termUrls = new Map(Object.entries(report.term_urls));

function termUrl(feature) {
  const [, prefix, code] = /^([^:_]+)[:_](.+)$/s.exec(feature) ?? [null, null, feature];
  const pattern = termUrls.get(prefix) ?? termUrls.get("*");
  if (!pattern || !/^https?:\/\//.test(pattern)) return null;
  const encoded = (text) => encodeURIComponent(text.toWellFormed()).replaceAll("%3A", ":");
  return pattern.replaceAll("{id}", () => encoded(feature)).replaceAll("{code}", () => encoded(code));
}

function featureLink(feature) {
  const href = termUrl(feature);
  if (!href) return bdi(feature);
  return el("a", { href, rel: "noopener noreferrer", target: "_blank" }, shorten(feature, LONGEST_NAME));
}

const hasName = (dataset, column) => dataset.names[column] && dataset.names[column] !== dataset.features[column];
const termText = (dataset, column) => (hasName(dataset, column) ? dataset.names : dataset.features)[column];

function term(dataset, column) {
  const link = featureLink(dataset.features[column]);
  if (!hasName(dataset, column)) return [link];
  return [bdi(dataset.names[column]), " ", el("span", { class: "note" }, "(", link, ")")];
}

const termMatches = (dataset, column, query) =>
  !query || `${dataset.features[column]} ${dataset.names[column]}`.toLowerCase().includes(query);

// One argument of a command, as a shell reads it.
const shellQuoted = (text) => (/^[\w@%+=:,./-]+$/.test(text) ? text : "'" + text.replaceAll("'", "'\\''") + "'");
