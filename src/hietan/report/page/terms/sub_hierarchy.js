// Chosen terms and all that lie above them, as an outline: a term on each line, so that no name lies on another.
const HIERARCHY_LINE = 24;

// The terms from top to bottom, their levels (one more than that of the deepest parent), and the edges between them.
function termsAbove(dataset, chosen) {
  const kept = new Set();
  const waiting = [...chosen];
  while (waiting.length) {
    const column = waiting.pop();
    if (kept.has(column)) continue;
    kept.add(column);
    waiting.push(...(dataset.ontology[column] ?? []));
  }
  const parents = (column) => dataset.ontology[column] ?? [];
  const below = (column) => childrenOf(dataset, column).filter((child) => kept.has(child));
  const roots = [...kept].filter((column) => !parents(column).length).sort((a, b) => a - b);
  // A term is listed below the last of its parents, so that every line of the picture leads downwards.
  const order = [];
  const level = new Map(roots.map((column) => [column, 0]));
  const missing = new Map([...kept].map((column) => [column, parents(column).length]));
  const stack = roots.slice().reverse();
  while (stack.length) {
    const column = stack.pop();
    order.push(column);
    for (const child of below(column).reverse()) {
      level.set(child, Math.max(level.get(child) ?? 0, level.get(column) + 1));
      missing.set(child, missing.get(child) - 1);
      if (!missing.get(child)) stack.push(child);
    }
  }
  return { order, level, edges: order.flatMap((column) => below(column).map((child) => [column, child])) };
}

function hierarchyCard(dataset, lines) {
  if (!dataset.ontology.some((parents) => parents.length)) return null;
  const { picture, tools } = drawnHierarchy(dataset, lines);
  return cardWithTools(
    "Where these terms are in the hierarchy",
    tools,
    note(
      "The terms of the first picture in colour, below all more general ones; a line leads from each term to those ",
      "directly below it. The number is the difference that having the term makes.",
    ),
    picture,
  );
}

// The picture of some terms and the buttons that save it. `lines` are terms with their columns and, if they are known,
// their effects.
function drawnHierarchy(dataset, lines, name = `hierarchy ${dataset.name}`) {
  const chosen = new Set(lines.map(({ column }) => column));
  const part = termsAbove(dataset, chosen);
  const picture = drawnToWidth((width) => drawHierarchy(dataset, part, lines, Math.min(width, 820)));
  picture.className = "hierarchy";
  const saved = (label, ending, type, text) =>
    button(label, () => saveFile(`${fileStem(name)}.${ending}`, text(dataset, part, chosen), type), {
      class: "button small",
      "aria-label": `Save as ${label}: ${name}`,
      title: `Save as ${label}`,
    });
  const tools = [
    svgButton(name, () => picture.querySelector("svg")),
    saved("DOT", "dot", "text/vnd.graphviz", asDot),
    saved("Cytoscape", "json", "application/json", asCytoscape),
  ];
  return { picture, tools };
}

function drawHierarchy(dataset, { order, level, edges }, lines, width) {
  const effects = new Map(lines.map((line) => [line.column, line]));
  const deepest = Math.max(1, ...order.map((column) => level.get(column)));
  const indent = Math.min(26, (0.45 * width) / deepest);
  const place = new Map(
    order.map((column, k) => [column, { x: 14 + level.get(column) * indent, y: (k + 0.5) * HIERARCHY_LINE + 4 }]),
  );
  const path = ([from, to]) => {
    const [a, b] = [place.get(from), place.get(to)];
    const beside = a.x - 8; // not through the points in between
    const turns = `C${beside},${a.y + 2} ${beside},${a.y + 6} ${beside},${a.y + 12}V${b.y - 8}`;
    return svg("path", { class: "edge", d: `M${a.x},${a.y}${turns}Q${beside},${b.y} ${beside + 8},${b.y}H${b.x}` });
  };
  const label = `${plural(effects.size, "term")} and the ${order.length - effects.size} above them`;
  return svg(
    "svg",
    { width, height: order.length * HIERARCHY_LINE + 8, role: "group", "aria-label": label },
    edges.map(path),
    order.map((column) => hierarchyNode(dataset, column, effects.get(column), place.get(column), width)),
  );
}

function hierarchyNode(dataset, column, line, { x, y }, width) {
  const towards = line?.gap === undefined ? "var(--accent)" : line.gap >= 0 ? "var(--pro)" : "var(--anti)";
  const added = line?.gap === undefined ? "" : signed(line.gap);
  const text = termText(dataset, column);
  return svg(
    "a",
    { href: addressOf("term", dataset.features[column]), class: line ? "node chosen" : "node" },
    svg("title", {}, `${text} ${dataset.features[column]}`),
    svg("circle", { cx: x, cy: y, r: line ? 6 : 4, style: line ? { fill: towards } : {} }),
    svg("text", { x: x + 12, y: y + 4 }, fitText(text, width - x - 80)),
    added && svg("text", { x: width - 6, y: y + 4, "text-anchor": "end", class: "adds" }, added),
  );
}

const dotQuoted = (text) => `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", " ")}"`;

// The picture in the DOT language of Graphviz.
function asDot(dataset, { order, edges }, chosen) {
  const id = (column) => dotQuoted(dataset.features[column]);
  const label = (column) =>
    hasName(dataset, column) ? `${dataset.names[column]} (${dataset.features[column]})` : dataset.features[column];
  return [
    "digraph hierarchy {",
    "  rankdir=TB;",
    '  node [shape=box, style="rounded,filled", fillcolor=white];',
    ...order.map((c) => `  ${id(c)} [label=${dotQuoted(label(c))}${chosen.has(c) ? ", fillcolor=lightblue" : ""}];`),
    ...edges.map(([parent, child]) => `  ${id(parent)} -> ${id(child)};`),
    "}",
    "",
  ].join("\n");
}

function asCytoscape(dataset, { order, level, edges }, chosen) {
  const id = (column) => dataset.features[column];
  const node = (c) => ({ id: id(c), name: termText(dataset, c), level: level.get(c), chosen: chosen.has(c) });
  const edge = ([p, c]) => ({ id: `${id(p)} -> ${id(c)}`, source: id(p), target: id(c) });
  const elements = {
    nodes: order.map((c) => ({ data: node(c) })),
    edges: edges.map((e) => ({ data: edge(e) })),
  };
  return JSON.stringify({ elements }, null, 1);
}
