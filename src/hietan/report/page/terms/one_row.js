// One row beside its explanation: the rows behind each number, its neighbours, and what would change the answer.

// The training rows behind a contribution, as in its text: "of 68 genes with X: anti 0 of 54, pro 1 of 14"; and what a
// regression made of them, if that is much.
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

const weakMark = (why, i) => why.weak.includes(i) && el("strong", { class: "weak", title: "rests on few rows" }, " *");

// What the counts and marks of an explanation mean.
function countsLegend(why) {
  if (!why.counts) return null;
  return note(
    `Below a term: the training ${rowNouns} of each class with this value. `,
    why.counts_note && `${why.counts_note} `,
    why.weak.length > 0 && `* Weak: fewer than 5 of these ${rowNouns} have the value, or fewer than 5 do not. `,
    Object.keys(why.adjusted).length > 0 &&
      "Adjustment: what the regression adds to the part that follows from the counts.",
  );
}

function whatWouldChange(dataset, { changes, to, tried }) {
  const along = (added, n) => ` and ${plural(n, added ? "more general term" : "more specific term")}`;
  const step = ([column, added, size]) => {
    const what = el("strong", {}, added ? "with " : "without ");
    return el("li", {}, what, term(dataset, column), size > 1 && along(added, size - 1));
  };
  const answer = () => el("strong", {}, bdi(classOfLabel(dataset, to)));
  const found = () => [el("p", {}, "The answer would be ", answer(), ":"), el("ul", {}, changes.map(step))];
  return el(
    "div",
    { class: "flip" },
    el("h4", {}, "What would change the answer"),
    changes.length ? found() : el("p", {}, "No set of up to three changes was found that does."),
    note(
      `${plural(tried, "single change")} tried; `,
      changes.length === 1
        ? "the smallest that is enough is shown."
        : "none of them is enough, so further ones were added to the one that comes nearest.",
    ),
  );
}

// The most similar rows, with their classes: a sanity check on what the model says.
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
    isStudy ? `The most similar ${rowNouns}` : `The most similar ${rowNouns} of the training data`,
    el("p", {}, "Among them: ", joined(words), "."),
    note(
      "Similarity is simGIC: the information in the terms that two rows share, divided by that in all terms that ",
      "either of them has; a term that few rows have carries more information.",
    ),
  );
}

// A link within the page that is followed at once, unless it is opened elsewhere.
const followTo = (go) => (event) => {
  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  go();
};
