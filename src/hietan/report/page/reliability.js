// How reliable probabilities are: predicted probabilities against observed shares.
function reliability() {
  const isShownInDetail = datasets.length === 1 && datasets[0].quality;
  const known = Object.keys(report.reliability).filter((d) => Object.keys(report.reliability[d]).length);
  if (isShownInDetail || !known.length) return null;
  const options = known.filter((d) => !d || datasets.length > 1).map((d) => [d, d || "all datasets"]);
  return drawnByChoice(selectField, "Reliability on", options, (dataset) =>
    reliabilityCard("Reliability of the probabilities", `reliability ${dataset}`, report.reliability[dataset]),
  );
}

// The calibration of one method on a dataset.
function calibrationCard(dataset, method) {
  const known = report.reliability[dataset.name] ?? {};
  if (!known[method]) return null;
  const { name } = methods[method];
  return reliabilityCard(["Calibration of ", bdi(name)], `calibration ${name} ${dataset.name}`, {
    [method]: known[method],
  });
}

function reliabilityCard(title, what, known) {
  const curves = Object.entries(known).map(([m, curve]) => [Number(m), curve]);
  const picture = reliabilityOf(curves);
  const contents = () => [
    ["method", "predicted", "observed", "rows"],
    curves.flatMap(([m, [predicted, observed, rows]]) =>
      predicted.map((p, k) => [methods[m].name, p, observed[k], rows[k]]),
    ),
  ];
  return cardWithTools(title, [csvButton(what, contents), svgButton(what, picture)], picture);
}

function reliabilityOf(curves) {
  const keys = curves.map(([method]) => el("li", {}, curveKey(method), bdi(methods[method].name)));
  return el(
    "div",
    { class: "grid two" },
    drawnToWidth((width) => curvePicture(curves, width)),
    el(
      "div",
      {},
      legend(keys),
      note(
        "Rows are sorted into ten bins by the predicted probability of ",
        bdi(report.quality?.positive || "the positive class"),
        ". ",
        "Each point shows the mean prediction in a bin against the share of its rows that belong to that class. ",
        "Larger points have more rows. On the diagonal, the probabilities are right. Below the diagonal on the right, ",
        "the probabilities are overconfident.",
      ),
      details({}, "As a table", curveTable(curves)),
    ),
  );
}

// Eight colours, then the same colours dashed.
const DASHES = ["", "7 4", "2 4", "9 3 2 3"];
const curveColour = (method) => `var(--s${method % 8})`;
const curveStroke = (method) => ({
  stroke: curveColour(method),
  "stroke-width": 2,
  fill: "none",
  "stroke-dasharray": DASHES[Math.floor(method / 8) % DASHES.length],
});

const curveKey = (method) =>
  svg(
    "svg",
    { width: 26, height: 12, "aria-hidden": "true" },
    svg("path", { d: "M0,6H26", ...curveStroke(method) }),
    svg("circle", { cx: 13, cy: 6, r: 4, fill: curveColour(method) }),
  );

function curvePicture(curves, fullWidth) {
  const label = "Reliability curves. The table below lists the numbers.";
  return squarePlot(fullWidth, label, ["predicted probability", "observed share"], [0, 1], (x, y) =>
    curves.map(([method, curve]) => reliabilityCurve(method, curve, x, y)),
  );
}

const pathThrough = (predicted, observed, x, y) => "M" + predicted.map((p, k) => `${x(p)},${y(observed[k])}`).join("L");

function reliabilityCurve(method, [predicted, observed, rows], x, y) {
  const most = Math.max(...rows);
  const words = (k) =>
    `${methods[method].name}: predicted ${predicted[k].toFixed(2)}, observed ${observed[k].toFixed(2)}, ` +
    plural(rows[k], "row");
  const point = (p, k) =>
    svg("circle", { cx: x(p), cy: y(observed[k]), r: 2 + 4 * Math.sqrt(rows[k] / most) }, svg("title", {}, words(k)));
  return [
    svg("path", { d: pathThrough(predicted, observed, x, y), ...curveStroke(method) }),
    svg("g", { fill: curveColour(method) }, predicted.map(point)),
  ];
}

function curveTable(curves) {
  const columns = [
    { title: "method", value: ([m]) => methods[m].name, cell: ([m]) => bdi(methods[m].name) },
    ...["predicted", "observed"].map((title, k) =>
      numberColumn(title, { value: (row) => row[k + 1], written: (x) => x.toFixed(3) }),
    ),
    numberColumn("rows", { value: (row) => row[3], written: count }),
  ];
  const rows = curves.flatMap(([method, [predicted, observed, n]]) =>
    predicted.map((p, k) => [method, p, observed[k], n[k]]),
  );
  return new SortedTable("Reliability", columns, { descending: false }).setRows(rows).elements();
}
