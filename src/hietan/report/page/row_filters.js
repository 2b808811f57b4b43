// Filters of the row list other than names, and the list as a table.

// Agreement of the methods: on the right or a wrong class in a study, on one of two classes among candidates.
function agreementOf({ dataset, row }) {
  const said = Object.values(dataset.predictions).map((p) => p.predicted[row]);
  if (!isStudy) return said.every((c) => c === said[0]) ? `all say ${said[0]}` : "disagree";
  const right = countRight({ dataset, row });
  if (right === said.length) return "all right";
  return right ? "disagree" : "all wrong";
}

const isWellSupported = (g, { agreement, leastTerms }) =>
  (!agreement || agreementOf(g) === agreement) && (!leastTerms || g.dataset.n_terms[g.row] >= leastTerms);

function agreementField(browser) {
  const numbers = new Set(datasets.map((d) => Object.keys(d.predictions).length));
  if (Math.max(...numbers) < 2 || about.unlabelled) return null;
  const word = isStudy ? "methods" : "models";
  const agree = isStudy
    ? [
        ["all right", `all ${word} correct`],
        ["all wrong", `all ${word} wrong`],
      ]
    : datasets[0].classes.map((name, c) => [`all say ${c}`, `all predict ${name}`]);
  const options = [["", "any"], ...agree, ["disagree", `${word} disagree`]];
  return selectField("Agreement", options, (agreement) => browser.change({ agreement }), "");
}

// Rows with few terms are ranked by absent terms: the better a row is annotated, the more its prediction means.
function termsField(browser) {
  if (isStudy || !datasets[0].n_terms?.length) return null;
  const options = [0, 5, 10, 20, 50, 100].map((n) => [n, n ? `at least ${n} terms` : "any number of terms"]);
  return selectField("Annotated with", options, (n) => browser.change({ leastTerms: Number(n) }), 0);
}

// The listed rows as they are saved: what is known about each, and each method's prediction.
function listedContents(found) {
  const shown = Object.keys(found[0]?.dataset.predictions ?? {}).map(Number);
  const names = shown.map((m) => methods[m].name);
  const heads = [
    ...["dataset", rowNoun, "symbol", isStudy ? "true class" : "class in the training data"],
    ...(isStudy ? [] : ["terms"]),
    ...(report.lists ? ["p-value"] : []),
    ...names.flatMap((name) => [
      about.unlabelled ? `lift by ${name}` : `predicted by ${name}`,
      `log-odds by ${name}`,
      `probability by ${name}`,
    ]),
  ];
  const said = ({ dataset, row }, m) => {
    const prediction = dataset.predictions[m];
    if (!prediction) return [null, null, null];
    const { odds, chance } = scoresOf(prediction, row);
    if (about.unlabelled) return [prediction.lift?.[row] ?? null, odds, prediction.calibrated?.[row] ?? null];
    return [dataset.classes[prediction.predicted[row]], odds, prediction.calibrated?.[row] ?? chance];
  };
  const line = (g) => [
    ...[g.dataset.name, g.name, symbolOf(g.dataset, g.row)],
    isStudy ? g.dataset.classes[g.dataset.truth[g.row]] : (trainingOf(g.dataset, g.row)?.[2] ?? ""),
    ...(isStudy ? [] : [g.dataset.n_terms?.[g.row] ?? null]),
    ...(report.lists ? [g.dataset.predictions[0].p_value[g.row]] : []),
    ...shown.flatMap((m) => said(g, m)),
  ];
  return [heads, found.map(line)];
}
