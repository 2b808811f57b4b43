// Contributions of terms to the log-odds, row by row: a point is a row, or the number of rows in its title.
const SWARM_LINE = 30;

function beeswarm(dataset, effects, lines) {
  return [
    legend(
      legendItem({ r: 5, fill: "var(--s3)" }, "rows with the term"),
      legendItem({ r: 5, class: "lacking" }, "rows without it"),
    ),
    drawnToWidth((width) => swarmPicture(dataset, effects, lines, width)),
  ];
}

function swarmPicture(dataset, effects, lines, fullWidth) {
  const width = Math.min(fullWidth, 1180);
  const isNarrow = width < 560;
  const longest = Math.max(...lines.map(({ column }) => textWidth(termText(dataset, column))));
  const names = isNarrow ? 0 : Math.min(330, 0.4 * width, longest + 8);
  const margin = { left: names + 12, right: 14, top: 26, bottom: 42 };
  const places = lines.flatMap(({ k }) => effects.swarm[k].map(([steps]) => steps * effects.step));
  const [start, end] = [Math.min(0, ...places), Math.max(0, ...places)];
  const x = (v) => margin.left + ((v - start) / (end - start || 1)) * (width - margin.left - margin.right);
  const lineHeight = isNarrow ? SWARM_LINE + 16 : SWARM_LINE;
  const height = margin.top + lines.length * lineHeight + margin.bottom;
  const middle = (i) => margin.top + (i + 1) * lineHeight - SWARM_LINE / 2;
  const most = Math.max(1, ...lines.flatMap(({ k }) => effects.swarm[k].map(([, , n]) => n)));
  const label = `Term contributions to the log-odds of ${dataset.classes[1]}. The table below lists them.`;
  const soft = (v, y, anchor, text) => svgText(x(v), y, anchor, text, { class: "soft" });
  return svg(
    "svg",
    { width, height, role: "img", "aria-label": label, class: "swarm" },
    swarmTicks(start, end).map((v) => [
      svg("path", { d: `M${x(v)},${margin.top}V${height - margin.bottom}`, class: v === 0 ? "axis" : "grid-line" }),
      soft(v, height - margin.bottom + 16, "middle", v && signed(v, String(v).split(".")[1]?.length ?? 0)),
    ]),
    soft(end, height - 8, "end", `for ${shorten(dataset.classes[1], 20)} →`),
    soft(start, height - 8, "start", `← for ${shorten(dataset.classes[0], 20)}`),
    lines.map((line, i) => [
      swarmName(dataset, line, isNarrow ? width : names, isNarrow, middle(i)),
      swarmPoints(effects, line.k, x, middle(i), most),
    ]),
  );
}

function swarmName(dataset, { column }, room, isNarrow, y) {
  const text = termText(dataset, column);
  const place = isNarrow ? { x: 2, y: y - SWARM_LINE / 2 - 1 } : { x: room, y: y + 4, "text-anchor": "end" };
  return svg("text", place, fitText(text, room), svg("title", {}, text));
}

// Round steps: at most six of them between the ends.
function swarmTicks(start, end) {
  const rough = (end - start || 1) / 6;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough);
  const first = Math.ceil(start / step);
  const last = Math.floor(end / step);
  const digits = Math.max(0, -Math.floor(Math.log10(step)));
  return Array.from({ length: last - first + 1 }, (_, i) => Number(((first + i) * step).toFixed(digits)));
}

// Rows with nearly the same contribution form a spindle: the more rows, the taller. Rows with the term are on top.
function swarmPoints(effects, k, x, y, most) {
  const value = (steps) => steps * effects.step;
  const ordered = effects.swarm[k].slice().sort((a, b) => a[1] - b[1]);
  return ordered.map(([steps, has, rows]) => {
    const stack = Math.max(1, Math.round(9 * Math.sqrt(rows / most)));
    const title = `${signed(value(steps))}: ${plural(rows, "row")} ${has ? "with" : "without"} the term`;
    const dot = (i) => svg("circle", { cx: x(value(steps)), cy: y + (i - (stack - 1) / 2) * 2.8, r: 3 });
    return svg(
      "g",
      { class: has ? "having" : "lacking" },
      svg("title", {}, title),
      Array.from({ length: stack }, (_, i) => dot(i)),
    );
  });
}
