// One row next to its explanation: the training rows behind each number, and the row's neighbours.

// The training rows behind a contribution, as in its text: "of 68 genes with X: anti 0 of 54, pro 1 of 14"; and the
// regression's adjustment, if it is large.
function evidenceBehind(dataset, why, i) {
  const counts = why.counts?.[i];
  const nothing = () =>
    el("span", { class: "sub behind" }, `a parent is absent in this ${rowNoun}, so nothing was counted`);
  if (!counts) return why.given[i].length > 0 ? nothing() : null;
  const [given, p, adjustment] = [why.given[i], why.parents[i], why.adjusted[i]];
  const names = given.map((column) => bdi(termText(dataset, column)));
  const condition = given.length < 4 ? joined(names, " and ") : `its ${given.length} parents`;
  const shares = counts.map(([n, size], c) => [
    bdi(shorten(classOfLabel(dataset, why.classes[c]), 24)),
    ` ${count(n)} of ${count(size)}`,
  ]);
  const parts = () => [why.contributions[i] - adjustment, adjustment].map((amount) => signed(amount, 3));
  return el(
    "span",
    { class: "sub behind" },
    `of ${plural(sumOf(counts.map(([, size]) => size)), rowNoun)}`,
    given.length > 0 && [p >= 0 && !why.values[p] ? " without " : " with ", condition],
    ": ",
    joined(shares),
    adjustment !== undefined && `; counts ${parts()[0]}, adjustment ${parts()[1]}`,
    weakMark(why, i),
  );
}

const weakMark = (why, i) => why.weak.includes(i) && el("strong", { class: "weak", title: "based on few rows" }, " *");

// The meaning of the counts and marks of an explanation.
function countsLegend(why) {
  if (!why.counts) return null;
  return note(
    `Below a term are the numbers of training ${rowNouns} of each class with this value. `,
    why.counts_note && `${why.counts_note} `,
    why.weak.length > 0 &&
      `* Weak means that fewer than 5 of these ${rowNouns} have the value, or fewer than 5 do not. `,
    Object.keys(why.adjusted).length > 0 &&
      "The adjustment is the regression's correction to the contribution computed from the counts.",
  );
}

// The most similar rows, with their classes: a sanity check of the prediction.
function similarRows({ similar }, goTo, { dataset, datasetIndex }) {
  const classOf = ({ row }) => (isStudy ? dataset.classes[dataset.truth[row]] : (trainingOf(dataset, row)?.[2] ?? ""));
  const others = similar.filter(([, similarity]) => similarity > 0);
  if (!others.length) return null;
  const rows = others.map(([row, similarity]) => ({ ...listedRow(datasetIndex, row), similarity }));
  const columns = [
    {
      title: rowNoun,
      value: ({ name }) => name,
      cell: (g) => el("a", { href: addressOf("row", g.name), onclick: followTo(() => goTo(g)) }, rowName(g)),
    },
    numberColumn("similarity", { value: (g) => g.similarity, written: (x) => x.toFixed(2) }),
    {
      title: isStudy ? "true class" : "class in the training data",
      value: classOf,
      cell: (g) => bdi(classOf(g)),
    },
  ];
  const found = new SortedTable(`similar ${rowNouns}`, columns, { className: "similar", column: 1 }).setRows(rows);
  const words = dataset.classes.map((name) => [`${rows.filter((g) => classOf(g) === name).length} `, bdi(name)]);
  return found.card(
    isStudy ? `The most similar ${rowNouns}` : `The most similar ${rowNouns} in the training data`,
    el("p", {}, "Among them: ", joined(words), "."),
    note(
      "Similarity is simGIC: the information in the terms that two rows share, divided by the information in all ",
      "terms of either row. Rarer terms are more informative.",
    ),
  );
}

// A link within the report that is followed immediately, unless it is opened elsewhere.
const followTo = (go) => (event) => {
  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  go();
};
