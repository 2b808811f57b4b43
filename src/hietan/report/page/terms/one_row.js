// One row beside its explanation: the rows behind each number, its neighbours, and what would change the answer.

// "given X = 1", and how many of the training rows that are like the parent have this value, class by class.
function evidenceBehind(dataset, why, i) {
  const p = why.parents[i];
  const given = p >= 0 && ["given ", bdi(termText(dataset, why.features[p])), ` = ${why.values[p]}`];
  const behind = why.counts?.[i];
  const shares =
    behind &&
    joined(
      why.classes.map((label, c) => [
        `${count(behind[0][c])} of ${count(behind[1][c])} `,
        bdi(classOfLabel(dataset, label)),
      ]),
      "; ",
    );
  if (!given && !shares) return null;
  return el("span", { class: "sub behind" }, given, given && shares && ": ", shares);
}

function whatWouldChange(dataset, { changes, to, probability: chance, tried }) {
  const along = (added, n) => ` and ${plural(n, added ? "more general term" : "more specific term")}`;
  const step = ([column, added, size]) => {
    const what = el("strong", {}, added ? "with " : "without ");
    return el("li", {}, what, term(dataset, column), size > 1 && along(added, size - 1));
  };
  const answer = () => el("strong", {}, bdi(classOfLabel(dataset, to)));
  const found = () => [
    el("p", {}, "The answer would be ", answer(), ` (P = ${probability(chance)}):`),
    el("ul", {}, changes.map(step)),
  ];
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
