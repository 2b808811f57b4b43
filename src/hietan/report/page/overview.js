// What was run, which method ranks where, and how far probabilities can be trusted.
const tableKey = (ranking) => JSON.stringify([ranking.tuning, ranking.setting]);

function tableLabel(key) {
  const [tuning, setting] = JSON.parse(key);
  return [setting, tuning === "none" ? "untuned" : "tuned: " + tuning].filter(Boolean).join(", ");
}

// Where there are no curves of a method, its address leads to its line in the ranking.
function openRankedMethod(name) {
  const links = [...document.querySelectorAll("#overview .ranking a, #overview .quality a")];
  const address = addressOf("method", methods[methodNamed(name)]?.name);
  const link = links.find((a) => a.getAttribute("href") === address);
  document.querySelector("#overview .marked")?.classList.remove("marked");
  link?.closest("tr").classList.add("marked");
  link?.focus();
}

function overview() {
  const { rankings } = report;
  openers.set("method", openRankedMethod);
  if (datasets.length === 1) return [datasetSections(), reliability(), whatWasRun()];
  return [whatWasRun(), rankings.length ? rankingSection(rankings) : noRanking(), datasetSections(), reliability()];
}

const noRanking = () => el("p", {}, "No method has results on every dataset.");

function rankingSection(rankings) {
  const metrics = [...new Set(rankings.map((r) => r.metric))];
  const tables = [...new Set(rankings.map(tableKey))];
  const state = { metric: metrics[0], table: tables[0] };
  const box = el("div", {});
  const draw = () =>
    setContent(box, rankingCards(rankings.find((r) => r.metric === state.metric && tableKey(r) === state.table)));
  const change = (what) => {
    Object.assign(state, what);
    draw();
  };
  const metricOptions = metrics.map((metric) => [metric, metricOf(metric).label]);
  const tableOptions = tables.map((key) => [key, tableLabel(key)]);
  draw();
  return el(
    "div",
    { id: "ranking" },
    controls(
      switchButtons("Score", metricOptions, (metric) => change({ metric }), state.metric),
      tables.length > 1 && selectField("Table", tableOptions, (key) => change({ table: key }), state.table),
    ),
    box,
  );
}

function whatWasRun() {
  const facts = [
    [datasets.length === 1 ? "dataset" : "datasets", datasets.length],
    [methods.length === 1 ? "method" : "methods", methods.length],
    ["folds", about.folds],
    [about.seeds.length === 1 ? "seed" : "seeds", about.seeds.length],
    ["rows in all datasets", count(sumOf(datasets.map((d) => d.genes.length)))],
  ];
  const asFact = ([what, value]) => el("div", {}, el("dt", {}, what), el("dd", {}, value));
  return card(
    "What was run",
    el("dl", { class: "facts" }, facts.map(asFact)),
    about.command && el("pre", {}, el("code", {}, about.command)),
    about.failures.length > 0 && failedJobs(),
    runDetails(),
    note(
      "Each row is predicted once per seed, by a model that has not seen it. ",
      "Predictions and explanations are those of the first seed.",
    ),
  );
}

function failedJobs() {
  const line = ([dataset, method, seed, fold, error]) =>
    el("li", {}, bdi(dataset), ", ", bdi(method), `, seed ${seed}, fold ${fold}: `, bdi(error));
  return el(
    "details",
    { open: true },
    el("summary", {}, plural(about.failures.length, "job") + " failed"),
    el("ul", {}, about.failures.slice(0, 50).map(line)),
  );
}

function runDetails() {
  const method = ({ name, description }) =>
    el("li", {}, bdi(name), description && [": ", el("code", { class: "text" }, description)]);
  const versions = Object.entries(about.versions).map(([what, version]) => `${what} ${version}`);
  return el(
    "details",
    {},
    el("summary", {}, "Methods, datasets and versions"),
    el("ul", {}, methods.map(method)),
    datasetTable(),
    note(versions.join(", ")),
  );
}

function datasetTable() {
  const classSize = (d, label) => d.truth.filter((t) => t === label).length;
  const classSizes = (d) => d.classes.map((c, k) => [k ? ", " : "", bdi(c), " ", classSize(d, k)]);
  const row = (d) =>
    tableRow(
      rowHead(bdi(d.name)),
      [count(d.genes.length), count(d.features.length), classSizes(d)].map((cell) => el("td", {}, cell)),
    );
  const heads = ["dataset", "rows", "features", "classes"].map((text) => columnHead(text));
  return scrollRegion("Datasets", table({}, heads, datasets.map(row)));
}
