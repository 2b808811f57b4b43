// One term: the rows that have it, its effect in each model, and its place in the hierarchy.

// The name of a term, linked to its details, and its identifier, linked to the ontology.
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
      below.length ? ["Directly below: ", joined(links)] : "There are no terms below this term.",
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

// The term's effect in each model; a model has no numbers if the term is not among its strongest.
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
    note(
      `A dash means that the term is not among the model's ${MOST_LISTED_TERMS} most important terms, `,
      "or that the method has no trees.",
    ),
  ];
}

const MOST_LISTED_TERMS = 200;
