// ROC and precision-recall curves, and the confusion matrices of one method.
function curveCards(dataset) {
  const known = Object.keys(dataset.quality.methods).map(Number);
  const best = bestOf(dataset, known);
  const box = el("div", {});
  const draw = (chosen) => {
    const method = Number(chosen);
    setContent(box, curvePair(dataset, method), confusionCard(dataset, method), calibrationCard(dataset, method));
  };
  const options = known.map((m) => [m, methods[m].name]);
  const choice = selectField("Method in detail", options, draw, best);
  const whole = el("div", { class: "curves" }, known.length > 1 && controls(choice), box);
  openers.set("method", (name) => {
    const method = methods.findIndex((m) => m.name === name);
    if (!known.includes(method)) return;
    choice.querySelector("select").value = method;
    draw(method);
    whole.scrollIntoView();
  });
  draw(best);
  return whole;
}

function curvePair(dataset, method) {
  const curves = Object.entries(dataset.quality.methods).filter(([, { roc }]) => roc);
  if (!curves.length) return null;
  const share = chanceOf(dataset, "average_precision");
  const one = (title, key, axes, chance) => {
    const picture = drawnToWidth((width) => bandPicture(dataset, method, key, { title, axes, chance }, width));
    const heads = ["method", axes[0], axes[1], "low", "high"];
    const rows = () =>
      curves.flatMap(([m, quality]) =>
        dataset.quality.grid.map((x, k) => [methods[m].name, x, ...quality[key].map((values) => values[k])]),
      );
    const tools = [
      csvButton(`${title} ${dataset.name}`, () => [heads, rows()]),
      svgButton(`${title} ${dataset.name}`, picture),
    ];
    return cardWithTools(title, tools, picture);
  };
  const keys = curves.map(([m]) =>
    el("li", { class: Number(m) === method ? "strong" : "faded" }, curveKey(m), methodLink(m)),
  );
  return [
    legend(keys),
    el(
      "div",
      { class: "grid two" },
      one("ROC curve", "roc", ["false positive rate", "true positive rate"], [0, 1]),
      one("Precision and recall", "precision", ["recall", "precision"], [share, share]),
    ),
    note(
      "Choose a method above; other methods are faded. The band is the chosen method's 95% bootstrap interval. ",
      "The dashed line is chance level. ",
      "The positive class is ",
      bdi(dataset.classes[1]),
      ".",
    ),
  ];
}

const FADED = { "stroke-width": 1.1, "stroke-opacity": 0.22 };

// The chosen method is drawn last, on its band; the others are faded.
function bandPicture(dataset, chosen, key, { title, axes, chance }, width) {
  const { grid, methods: found } = dataset.quality;
  const others = Object.keys(found).map(Number);
  others.sort((a, b) => (a === chosen) - (b === chosen));
  const area = key === "roc" ? "auc" : "average_precision";
  const words = others.map((m) => `${methods[m].name} ${inMetric(found[m].scores[area][0])}`);
  const label = `${title}; ${metricOf(area).label}: ${words.join(", ")}.`;
  return squarePlot(width, label, axes, chance, (x, y) =>
    others.map((m) => {
      if (!found[m][key]) return null;
      const [values, low, high] = found[m][key];
      const line = pathThrough(grid, values, x, y);
      const back = pathThrough(grid.slice().reverse(), low.slice().reverse(), x, y).replace("M", "L");
      const band = pathThrough(grid, high, x, y) + back + "Z";
      const isChosen = m === chosen;
      return [
        isChosen && svg("path", { d: band, fill: curveColour(m), "fill-opacity": 0.16 }),
        svg("path", { d: line, ...curveStroke(m), ...(isChosen ? { "stroke-width": 2.6 } : FADED) }),
      ];
    }),
  );
}

// Two shares against each other, with a dashed line between two heights; `draw` gets the scales.
function squarePlot(fullWidth, label, axes, [start, end], draw) {
  const width = Math.min(fullWidth, 520);
  const margin = { left: 44, right: 12, top: 10, bottom: 40 };
  const across = width - margin.left - margin.right;
  const up = Math.min(360, across);
  const height = up + margin.top + margin.bottom;
  const x = (v) => margin.left + v * across;
  const y = (v) => height - margin.bottom - v * up;
  return svg(
    "svg",
    { width, height, role: "img", "aria-label": label },
    squareAxes(x, y, height, axes),
    svg("path", { d: `M${x(0)},${y(start)}L${x(1)},${y(end)}`, class: "axis", "stroke-dasharray": "3 3" }),
    draw(x, y),
  );
}

function squareAxes(x, y, height, [across, up]) {
  const soft = (px, py, anchor, text, more = {}) => svgText(px, py, anchor, text, { class: "soft", ...more });
  return [
    [0, 0.25, 0.5, 0.75, 1].map((v) => [
      svg("path", { d: `M${x(0)},${y(v)}H${x(1)}M${x(v)},${y(0)}V${y(1)}`, class: "grid-line" }),
      soft(x(v), y(0) + 16, "middle", v),
      soft(x(0) - 6, y(v) + 4, "end", v),
    ]),
    soft(x(0.5), height - 6, "middle", across),
    soft(12, y(0.5), "middle", up, { transform: `rotate(-90 12 ${y(0.5)})` }),
  ];
}

function confusionCard(dataset, method) {
  const { confusion, tuned } = dataset.quality.methods[method];
  const tunedWords =
    tuned?.by === "method"
      ? "At the threshold that the method tunes on its training rows"
      : `At a tuned threshold, ${tuned?.threshold} (median)`;
  const rows = (counts, threshold) =>
    counts.flatMap((line, t) => line.map((n, p) => [threshold, dataset.classes[t], dataset.classes[p], n]));
  const contents = () => [
    ["threshold", "true class", "predicted class", "rows"],
    [...rows(confusion, "default"), ...(tuned ? rows(tuned.counts, "tuned") : [])],
  ];
  return cardWithTools(
    ["Confusion of ", bdi(methods[method].name)],
    csvButton(`confusion ${methods[method].name}`, contents),
    el(
      "div",
      { class: "grid two" },
      confusionMatrix(dataset, confusion, "As the method predicts"),
      tuned && confusionMatrix(dataset, tuned.counts, tunedWords),
    ),
    tuned?.by === "other folds" &&
      note(
        "A row's tuned threshold is the probability that gives the highest GMean on the other folds. Counts are from ",
        "the first seed.",
      ),
  );
}

// Shares of each true class; a darker colour means a larger share.
function confusionMatrix(dataset, counts, title) {
  const { classes } = dataset;
  const cell = (t, p) => {
    const share = counts[t][p] / Math.max(1, sumOf(counts[t]));
    const isRight = t === p;
    return el(
      "td",
      shade(isRight, share),
      el("strong", {}, count(counts[t][p])),
      el("span", { class: "sub" }, `${percent(share)}%`, isRight && (t ? " sensitivity" : " specificity")),
    );
  };
  const heads = [columnHead("true class"), classes.map((c) => numberHead("predicted ", bdi(shorten(c, 24))))];
  const row = (c, t) =>
    tableRow(
      rowHead(bdi(c)),
      classes.map((_, p) => cell(t, p)),
    );
  const [[tn, fp], [fn, tp]] = counts;
  const gmean = Math.sqrt((tn / Math.max(1, tn + fp)) * (tp / Math.max(1, tp + fn)));
  return el(
    "div",
    {},
    el("h3", {}, title),
    scrollRegion(title, table({ class: "confusion" }, heads, classes.map(row))),
    note(`GMean ${inMetric(gmean)}; ${percent(tp / Math.max(1, tp + fp))}% of the rows predicted `, [
      bdi(classes[1]),
      " are ",
      bdi(classes[1]),
      " (precision).",
    ]),
  );
}
