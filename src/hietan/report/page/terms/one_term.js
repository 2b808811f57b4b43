// One term: who has it, what each model makes of it, and where it is in the hierarchy.

// The name of a term, which leads to what is known about it, and its identifier, which leads to the ontology.
function linkedTerm(dataset, column) {
  if (!Object.keys(dataset.effects ?? {}).length) return term(dataset, column);
  const feature = dataset.features[column];
  const name = el("a", { class: "plain", href: addressOf("term", feature) }, bdi(termText(dataset, column)));
  return hasName(dataset, column) ? [name, " ", el("span", { class: "note" }, "(", featureLink(feature), ")")] : name;
}

function termCard(dataset, column, close) {
  const { picture, tools } = drawnHierarchy(dataset, [{ column }], `term ${dataset.features[column]}`);
  const below = childrenOf(dataset, column);
  const asLink = (other, k) => [k ? ", " : "", linkedTerm(dataset, other)];
  return cardWithTools(
    ["Term ", term(dataset, column)],
    [tools, button("Close", close, { class: "button small" })],
    el("p", {}, whoHasIt(dataset, column)),
    termInModels(dataset, column),
    el("h3", {}, "In the hierarchy"),
    picture,
    note(
      below.length ? [`Directly below: `, below.slice(0, 40).map(asLink)] : "No term is below it.",
      below.length > 40 && ` and ${count(below.length - 40)} more.`,
    ),
  );
}

function whoHasIt(dataset, column) {
  const sizes = classCounts(dataset);
  if (!dataset.present?.length) return null;
  const has = (c) => dataset.present[c][column];
  return dataset.classes.map((name, c) => [
    c ? "; " : "",
    `${count(has(c))} of ${count(sizes[c])} `,
    bdi(name),
    ` (${percent(has(c) / Math.max(1, sizes[c]))}%)`,
    c === dataset.classes.length - 1 && " have it.",
  ]);
}

// What each model makes of the term; a model in which it is not among the strongest has no numbers.
function termInModels(dataset, column) {
  const rows = Object.entries(dataset.effects).map(([m, effects]) => {
    const k = effects.columns.indexOf(column);
    const usage = dataset.usage[m];
    const line = k < 0 ? null : termLine(dataset, effects, k);
    return { m: Number(m), rank: k < 0 ? null : k + 1, line, used: usage ? usage.selected[column] / usage.rows : null };
  });
  const towards = (gap) => dataset.classes[gap >= 0 ? 1 : 0];
  const columns = [
    methodColumn(({ m }) => m, "model"),
    numberColumn("rank by effect", { value: ({ rank }) => rank }),
    numberColumn("effect", { value: ({ line }) => line?.effect ?? null, written: (x) => x.toFixed(3) }),
    numberColumn("difference", {
      value: ({ line }) => line?.gap ?? null,
      written: (x) => [signed(x), " for ", bdi(towards(x))],
    }),
    numberColumn("folds", {
      value: ({ line }) => line?.agree ?? null,
      written: (n, { line }) => `${n} of ${line.folds}`,
    }),
    numberColumn("kept in", { value: ({ used }) => used, written: (share) => `${percent(share)}% of the trees` }),
  ];
  const label = `models and ${dataset.features[column]}`;
  const found = new SortedTable(label, columns, { className: "in-models", column: 1, descending: false });
  return [
    found.setRows(rows).elements(),
    note(`A dash: not among the ${MOST_LISTED_TERMS} terms that matter most to the model, or a method without trees.`),
  ];
}

const MOST_LISTED_TERMS = 200;
