// What was run, how the methods rank, and how reliable the probabilities are.
const tableKey = (ranking) => JSON.stringify([ranking.tuning, ranking.setting]);

function tableLabel(key) {
  const [tuning, setting] = JSON.parse(key);
  return [setting, tuning === "none" ? "untuned" : "tuned: " + tuning].filter(Boolean).join(", ");
}

// Without curves of a method, its address leads to its line in the ranking.
function openRankedMethod(name) {
  const links = [...document.querySelectorAll("#overview .ranking a, #overview .quality a")];
  const link = links.find((a) => a.getAttribute("href") === addressOf("method", name));
  document.querySelector("#overview .marked")?.classList.remove("marked");
  link?.closest("tr").classList.add("marked");
  link?.focus();
}

function overview() {
  const { rankings } = report;
  openers.set("method", openRankedMethod);
  const failed = about.failed.map((line) => caution(bdi(line)));
  const answer = [
    ...failed,
    report.verdict && card("In short", el("p", { class: "verdict" }, el("bdi", {}, report.verdict)), verdictNote()),
  ];
  if (datasets.length === 1) return [answer, datasetSections(), incompleteRows(), reliability(), whatWasRun()];
  const ranking = rankings.length ? rankingSection(rankings) : note("No method has results on every dataset.");
  return [answer, ranking, incompleteRows(), datasetSections(), reliability(), whatWasRun()];
}

const verdictNote = () =>
  note(
    `AUC is the share of pairs of ${rowNouns}, one from each class, that the method ranks in the right order. `,
    "Chance level is 0.5. ",
    datasets.length === 1 &&
      "A method is within the sampling error of the best one " +
        "if the 95% bootstrap interval of their difference includes zero.",
  );

function rankingSection(rankings) {
  const scores = [...new Set(rankings.map((r) => r.metric))].map((metric) => [metric, metricOf(metric).label]);
  const tables = [...new Set(rankings.map(tableKey))].map((key) => [key, tableLabel(key)]);
  let shown = scores[0][0]; // the score stays chosen from table to table
  const cards = (key, metric) => {
    shown = metric;
    return rankingCards(rankings.find((r) => r.metric === metric && tableKey(r) === key));
  };
  const drawTable = (key) => drawnByChoice(switchButtons, "Score", scores, (metric) => cards(key, metric), shown);
  return el("div", { id: "ranking" }, drawnByChoice(selectField, "Table", tables, drawTable));
}

const EQUAL_ROWS = { keep: "kept", "same-fold": "in the same fold", "not-tested": "not tested" };

function whatWasRun() {
  const facts = [
    [datasets.length === 1 ? "dataset" : "datasets", datasets.length],
    [methods.length === 1 ? "method" : "methods", methods.length],
    ["folds", about.folds],
    [about.seeds.length === 1 ? "seed" : "seeds", about.seeds.length],
    ["rows in all datasets", count(sumOf(datasets.map((d) => d.genes.length)))],
    ["identical rows", EQUAL_ROWS[about.equal_rows]],
  ];
  const warned = datasets.filter((d) => d.equal_rows?.warning);
  return card(
    "What was run",
    factList(facts),
    about.command && el("pre", {}, el("code", {}, about.command)),
    about.failures.length > 0 && failedJobs(),
    datasets.length > 1 &&
      warned.length > 0 &&
      caution(
        "Far more identical rows have different classes than expected by chance in ",
        joined(warned.map((d) => bdi(d.name))),
        ". Methods that memorise rows look worse there than they are.",
      ),
    runDetails(),
    note(
      "Each row is predicted once per seed, by a model that has not seen it. ",
      "Predictions and explanations come from the first seed.",
    ),
  );
}

function failedJobs() {
  const line = ([dataset, method, seed, fold, error]) =>
    el("li", {}, bdi(dataset), ", ", bdi(method), `, seed ${seed}, fold ${fold}: `, bdi(error));
  const list = el("ul", {}, about.failures.slice(0, 50).map(line));
  return details({ open: true }, plural(about.failures.length, "job") + " failed", list);
}

function runDetails() {
  const method = ({ name, description }) =>
    el("li", {}, bdi(name), description && [": ", el("code", { class: "text" }, description)]);
  const versions = Object.entries(about.versions).map(([what, version]) => `${what} ${version}`);
  const list = el("ul", {}, methods.map(method));
  return details({}, "Methods, datasets and versions", list, datasetTable(), note(versions.join(", ")));
}

function datasetTable() {
  const classSizes = (d) => joined(d.classes.map((c, k) => [bdi(c), " ", classCounts(d)[k]]));
  const row = (d) =>
    tableRow(
      rowHead(bdi(d.name)),
      [count(d.genes.length), count(d.features.length), classSizes(d), equalRows(d)].map((cell) => el("td", {}, cell)),
    );
  const heads = ["dataset", "rows", "features", "classes", "identical rows"].map((text) => columnHead(text));
  return scrollRegion("Datasets", table({}, heads, datasets.map(row)));
}

function equalRows({ equal_rows: equal }) {
  if (!equal) return "–";
  const { rows, pairs, contradictions, expected } = equal;
  if (!pairs) return "none";
  return (
    `${count(rows)} are identical to another row: ${plural(pairs, "pair")}, ${count(contradictions)} with different ` +
    `classes (expected by chance: ${expected.toFixed(1)})`
  );
}
