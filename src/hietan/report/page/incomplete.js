// Rows that have lost some of their most specific annotations: mean scores against the share lost.
function incompleteRows() {
  const { incomplete } = report;
  if (!incomplete.length) return null;
  const severalTables = new Set(incomplete.map(tableKey)).size > 1;
  const label = (scores) => {
    const metric = metricOf(scores.metric).label;
    return severalTables ? `${metric}, ${tableLabel(tableKey(scores))}` : metric;
  };
  const options = incomplete.map((scores, i) => [i, label(scores)]);
  return el(
    "div",
    { id: "incomplete" },
    drawnByChoice(selectField, "Metric for incomplete rows", options, (i) =>
      incompleteCard(incomplete[i], options[i][1]),
    ),
  );
}

function incompleteCard(scores, label) {
  const { shares, means } = scores;
  const picture = drawnToWidth((width) => incompletePicture(scores, label, width));
  const columns = [
    methodColumn((k) => scores.methods[k]),
    ...shares.map((share, s) => numberColumn(`${share} lost`, { value: (k) => means[s][k], written: inMetric })),
  ];
  const numbers = new SortedTable(`${label} of incomplete rows`, columns, { column: shares.length });
  numbers.setRows([...scores.methods.keys()]);
  const keys = scores.methods.map((m) => el("li", {}, curveKey(m), methodLink(m)));
  const tools = [csvButton(numbers.label, () => numbers.contents()), svgButton(numbers.label, picture)];
  return cardWithTools(
    "Incomplete rows",
    tools,
    el("div", { class: "grid two" }, picture, el("div", {}, legend(keys), numbers.elements())),
    note(
      `The mean ${label} is over ${plural(datasets.length, "dataset")}. Each of a held-out row's most specific `,
      "annotations is removed with the given probability, but at least one annotation is kept. Training rows are ",
      "complete.",
    ),
  );
}

function incompletePicture({ shares, means, methods: shown }, label, fullWidth) {
  const width = Math.min(fullWidth, 520);
  const margin = { left: 52, right: 12, top: 10, bottom: 40 };
  const height = 300;
  const ends = [Math.min(...means.flat()), Math.max(...means.flat())];
  const step = ends[1] - ends[0] > 0.3 ? 0.1 : 0.05;
  const first = Math.max(0, Math.floor(ends[0] / step - 0.1));
  const ticks = Array.from({ length: Math.ceil(ends[1] / step + 0.1) - first + 1 }, (_, k) => (first + k) * step);
  const [low, high] = [ticks[0], ticks.at(-1)];
  const x = (share) => margin.left + (share / shares.at(-1)) * (width - margin.left - margin.right);
  const y = (v) => height - margin.bottom - ((v - low) / (high - low)) * (height - margin.top - margin.bottom);
  const soft = (px, py, anchor, text, more = {}) => svgText(px, py, anchor, text, { class: "soft", ...more });
  const point = (k) => (share, s) =>
    svg(
      "circle",
      { cx: x(share), cy: y(means[s][k]), r: 3.5 },
      svg("title", {}, `${methods[shown[k]].name}, ${share} lost: ${inMetric(means[s][k])}`),
    );
  const curve = (m, k) => {
    const values = means.map((scores) => scores[k]);
    return [
      svg("path", { d: pathThrough(shares, values, x, y), ...curveStroke(m) }),
      svg("g", { fill: curveColour(m) }, shares.map(point(k))),
    ];
  };
  return svg(
    "svg",
    { width, height, role: "img", "aria-label": `${label} by share of annotations lost.` },
    ticks.map((v) => [
      svg("path", { d: `M${x(0)},${y(v)}H${width - margin.right}`, class: "grid-line" }),
      soft(x(0) - 6, y(v) + 4, "end", inMetric(v)),
    ]),
    shares.map((share) => soft(x(share), height - margin.bottom + 18, "middle", share)),
    soft(x(shares.at(-1) / 2), height - 4, "middle", "share of the most specific annotations lost"),
    soft(12, y((low + high) / 2), "middle", label, { transform: `rotate(-90 12 ${y((low + high) / 2)})` }),
    shown.map(curve),
  );
}
