// Chosen terms and all their ancestors, as an outline: one term per line, so that names never overlap.
const HIERARCHY_LINE = 24;

// The terms from top to bottom, their levels (one more than the deepest parent's), and the edges between them.
function termsAbove(dataset, lines) {
  const parents = (column) => dataset.ontology[column] ?? [];
  // Iteration over a set includes members that are added on the way.
  const kept = new Set(lines.map(({ column }) => column));
  for (const column of kept) parents(column).forEach((parent) => kept.add(parent));
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
  const picture = drawnHierarchy(dataset, lines);
  return cardWithTools(
    "Where these terms are in the hierarchy",
    svgButton(`hierarchy ${dataset.name}`, picture),
    note(
      "The terms from the first picture are coloured and are below their ancestors. A line joins each term to its ",
      "children. The number shows the difference that the term makes.",
    ),
    picture,
  );
}

// The picture of some terms: lines with their columns and, if known, their effects.
function drawnHierarchy(dataset, lines) {
  const part = termsAbove(dataset, lines);
  const picture = drawnToWidth((width) => drawHierarchy(dataset, part, lines, Math.min(width, 820)));
  picture.className = "hierarchy";
  return picture;
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
    const d = `M${a.x},${a.y}${turns}Q${beside},${b.y} ${beside + 8},${b.y}H${b.x}`;
    return svg("path", { class: "edge", "data-from": dataset.features[from], "data-to": dataset.features[to], d });
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
  const hasEffect = line?.gap !== undefined;
  const fill = hasEffect ? towards(line.gap) : "var(--accent)";
  const text = termText(dataset, column);
  return svg(
    "a",
    { href: addressOf("term", dataset.features[column]), class: line ? "node chosen" : "node" },
    svg("title", {}, `${text} ${dataset.features[column]}`),
    svg("circle", { cx: x, cy: y, r: line ? 6 : 4, style: line ? { fill } : {} }),
    svg("text", { x: x + 12, y: y + 4 }, fitText(text, width - x - 80)),
    hasEffect && svgText(width - 6, y + 4, "end", signed(line.gap)),
  );
}
