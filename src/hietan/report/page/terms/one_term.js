// One term: who has it, what each model makes of it, and where it is in the hierarchy.

// The name of a term, which leads to what is known about it, and its identifier, which leads to the ontology.
function linkedTerm(dataset, column) {
  if (!Object.keys(dataset.effects ?? {}).length) return term(dataset, column);
  const feature = dataset.features[column];
  const name = el("a", { class: "plain", href: addressOf("term", feature) }, bdi(termText(dataset, column)));
  return hasName(dataset, column) ? [name, " ", el("span", { class: "note" }, "(", featureLink(feature), ")")] : name;
}

function termCard(dataset, column, close) {
  const picture = drawnHierarchy(dataset, [{ column }]);
  const below = childrenOf(dataset, column);
  const links = below.slice(0, 40).map((other) => linkedTerm(dataset, other));
  return cardWithTools(
    ["Term ", term(dataset, column)],
    [svgButton(`term ${dataset.features[column]}`, picture), button("Close", close, { class: "button small" })],
    dataset.present?.length > 0 && el("p", {}, whoHasIt(dataset, column)),
    termInModels(dataset, column),
    el("h3", {}, "In the hierarchy"),
    picture,
    note(
      below.length ? ["Directly below: ", joined(links)] : "No term is below it.",
      below.length > 40 && ` and ${count(below.length - 40)} more.`,
    ),
  );
}

function whoHasIt(dataset, column) {
  const sizes = classCounts(dataset);
  const has = (c) => dataset.present[c][column];
  const shares = dataset.classes.map((name, c) => [
    `${count(has(c))} of ${count(sizes[c])} `,
    bdi(name),
    ` (${percent(has(c) / Math.max(1, sizes[c]))}%)`,
  ]);
  return [joined(shares, "; "), " have it."];
}

// What each model makes of the term; a model in which it is not among the strongest has no numbers.
function termInModels(dataset, column) {
  const rows = Object.entries(dataset.effects).map(([m, effects]) => {
    const k = effects.columns.indexOf(column);
    const usage = dataset.usage[m];
    const used = usage ? usage.selected[column] / usage.rows : null;
    const line = k < 0 ? { effect: null, gap: null, agree: null } : termLine(dataset, effects, k);
    return { ...line, m: Number(m), rank: k < 0 ? null : k + 1, used };
  });
  const columns = [
    methodColumn(({ m }) => m, "model"),
    numberColumn("rank by effect", { value: ({ rank }) => rank }),
    numberColumn("effect", { value: ({ effect }) => effect, written: (x) => x.toFixed(3) }),
    differenceColumn(dataset),
    foldsColumn,
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
