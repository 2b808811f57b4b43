// The learned tree: from the root on the left to the leaves on the right; to be moved, zoomed and walked through.
// Points and names keep their size when zoomed, so zooming in makes room for more names.
const MOST_NAMES = innerWidth < 700 ? 7 : 13;

// Where the features belong: depth from left to right, leaves on lines of their own from top to bottom, and parents
// halfway between their first and last child. The strongest come first. A stack, not recursion: trees can be deep.
function treeShape(why) {
  const n = why.features.length;
  const below = Array.from({ length: n }, () => []);
  const roots = [];
  why.parents.forEach((p, i) => (p < 0 ? roots : below[p]).push(i));
  const strength = why.contributions.map(Math.abs);
  for (const list of [roots, ...below]) list.sort((a, b) => strength[b] - strength[a] || a - b);
  const [depth, line, order] = [new Array(n), new Array(n), []];
  let leaves = 0;
  const stack = roots
    .slice()
    .reverse()
    .map((i) => [i, 0, false]);
  while (stack.length) {
    const [i, level, childrenDone] = stack.pop();
    if (childrenDone) {
      line[i] = below[i].length ? (line[below[i][0]] + line[below[i].at(-1)]) / 2 : leaves++;
    } else {
      depth[i] = level;
      order.push(i);
      stack.push([i, level, true]);
      for (const child of below[i].slice().reverse()) stack.push([child, level + 1, false]);
    }
  }
  return { below, depth, line, order, columns: Math.max(1, ...depth), lines: Math.max(1, leaves - 1) };
}

class TreeDrawing {
  constructor(dataset, why, title) {
    Object.assign(this, { dataset, why, title });
    const n = why.features.length;
    this.shape = treeShape(why);
    this.x = new Array(n).fill(0);
    this.y = new Array(n).fill(0);
    this.columnWidth = 1;
    this.strongest = Math.max(1e-9, ...why.contributions.map(Math.abs));
    this.byStrength = this.shape.order.slice();
    this.byStrength.sort((a, b) => Math.abs(why.contributions[b]) - Math.abs(why.contributions[a]));
    this.nodeOfColumn = new Map(why.features.map((column, i) => [column, i]));
    this.tip = el("div", { class: "tip", hidden: true });
    this.near = el("div", { "aria-live": "polite" });
    this.edges = [];
    this.labels = why.features.map((_, i) => this.label(i));
    this.nodes = why.features.map((_, i) => this.node(i));
    this.draw();
  }

  // Edges lie below the nodes, weak nodes below strong ones.
  draw() {
    const { why, dataset, title, nodeOfColumn } = this;
    this.world = svg("g", {});
    this.ontology = svg("g", { class: "ontology", visibility: "hidden" });
    why.parents.forEach((p, i) => p >= 0 && this.addEdge(this.world, "edge", learnedEdge, p, i));
    why.features.forEach((column, i) => {
      const parents = (dataset.ontology[column] || []).filter((p) => nodeOfColumn.has(p));
      for (const p of parents) this.addEdge(this.ontology, "isa", ontologyEdge, nodeOfColumn.get(p), i);
    });
    this.world.append(this.ontology);
    for (const i of this.byStrength.slice().reverse()) this.world.append(this.nodes[i]);
    const help =
      `${title}: learned tree of ${plural(why.features.length, "feature")}. Use the arrow keys to move along it, ` +
      "plus and minus to zoom, and Enter to show a term's neighbours.";
    this.picture = svg(
      "svg",
      { role: "group", "aria-label": help, onkeydown: (event) => this.pressKey(event) },
      this.world,
    );
    this.view = new ZoomableView(
      this.picture,
      this.world,
      (width, height) => this.arrange(width, height),
      (scale) => this.nameNodes(scale),
    );
    this.stage = el("div", { class: "stage" }, this.picture, this.tip, this.tools());
  }

  elements() {
    const { why } = this;
    const showOntology = (shown) => this.ontology.setAttribute("visibility", shown ? "visible" : "hidden");
    return el(
      "div",
      { class: "tree" },
      el(
        "ul",
        { class: "legend" },
        legendItem({ r: 6, fill: "var(--pro)" }, `evidence for ${why.target}`),
        legendItem({ r: 6, fill: "var(--anti)" }, "evidence against it"),
        legendItem({ r: 5, class: "hollow" }, `hollow: the ${rowNoun} lacks the term`),
        el("li", {}, "larger: contributes more"),
      ),
      this.stage,
      checkbox("Show the ontology's own edges (dashed)", showOntology),
      this.near,
    );
  }

  tools() {
    const tool = (sign, label, act) => button(sign, act, { "aria-label": label, title: label });
    return el(
      "div",
      { class: "tools" },
      tool("+", "Zoom in", () => this.view.zoom(ZOOM_STEP)),
      tool("−", "Zoom out", () => this.view.zoom(1 / ZOOM_STEP)),
      tool("⤢", "Show the whole tree", () => this.view.fit()),
    );
  }

  addEdge(parent, className, pathOf, from, to) {
    const path = svg("path", { class: className, "data-from": from, "data-to": to });
    parent.append(path);
    this.edges.push({ path, pathOf, from, to, isLearned: pathOf === learnedEdge });
  }

  // The square root, so that it is the area of a point that grows with the contribution.
  radius(i) {
    return 3 + 7 * Math.sqrt(Math.abs(this.why.contributions[i]) / this.strongest);
  }

  // Names are to the right of leaves, and above all other nodes; the root's begins at the root.
  label(i) {
    const { below, depth } = this.shape;
    const r = this.radius(i);
    const above = { x: depth[i] ? 0 : -8, y: -r - 5, "text-anchor": depth[i] ? "middle" : "start" };
    const text = shorten(termText(this.dataset, this.why.features[i]), 30);
    return svg("text", below[i].length ? above : { x: r + 5, y: 4 }, text);
  }

  node(i) {
    const { why, dataset, tip } = this;
    const r = this.radius(i);
    const show = () => this.showTip(i);
    const hide = () => {
      tip.hidden = true;
    };
    return svg(
      "g",
      {
        class: why.values[i] ? "node" : "node zero",
        role: "button",
        tabindex: i === this.shape.order[0] ? 0 : -1,
        "data-node": i,
        "aria-label": nodeSentence(dataset, why, i),
        style: { color: why.contributions[i] >= 0 ? "var(--pro)" : "var(--anti)" },
        onclick: () => this.choose(i),
        onfocus: show,
        onblur: hide,
        onmouseenter: show,
        onmouseleave: hide,
      },
      svg(
        "g",
        { class: "steady" },
        svg("circle", { class: "halo", r: r + 5 }),
        svg("circle", { class: "dot", r, fill: "currentColor" }),
        this.labels[i],
      ),
    );
  }

  // Room for names beside the leaves and above the first line; the tree takes what is left, but no more than it needs.
  arrange(width, height) {
    const { columns, lines, depth, line } = this.shape;
    const beside = Math.min(150, 0.3 * width);
    const lineHeight = Math.min(44, (height - 90) / lines);
    this.columnWidth = Math.min(160, (width - 60 - beside) / columns);
    this.nodes.forEach((node, i) => {
      this.x[i] = depth[i] * this.columnWidth;
      this.y[i] = line[i] * lineHeight;
      node.setAttribute("transform", `translate(${this.x[i]},${this.y[i]})`);
    });
    for (const { path, pathOf, from, to } of this.edges) {
      const start = [this.x[from], this.y[from]];
      path.setAttribute("d", pathOf(start, [this.x[to], this.y[to]], this.columnWidth));
    }
    return [
      Math.max(50, (width - columns * this.columnWidth - beside) / 2),
      Math.max(60, (height - lines * lineHeight) / 2),
    ];
  }

  // The strongest are named first; a name that would lie on another one waits until there is room.
  nameNodes(scale) {
    const taken = [];
    let left = Math.round(MOST_NAMES * Math.max(1, scale) ** 2);
    for (const i of this.byStrength) {
      const box = this.labelBox(i, scale);
      const isFree = left > 0 && !taken.some((other) => overlaps(box, other));
      if (isFree) {
        taken.push(box);
        left--;
      }
      this.labels[i].setAttribute("visibility", isFree ? "visible" : "hidden");
    }
  }

  // [left, top, right, bottom] of a name on the screen, by the usual width of a letter: measuring it would be slow.
  labelBox(i, scale) {
    const width = 6.7 * this.labels[i].textContent.length + 6;
    const [x, y, r] = [scale * this.x[i], scale * this.y[i], this.radius(i)];
    if (!this.shape.below[i].length) return [x + r + 2, y - 9, x + r + width, y + 9];
    const start = this.shape.depth[i] ? x - width / 2 : x - 8;
    return [start, y - r - 19, start + width, y - r - 2];
  }

  // Below the node, or above it where there is no room below; never outside the stage.
  showTip(i) {
    const { tip } = this;
    setContent(tip, tipContent(this.dataset, this.why, i));
    tip.hidden = false;
    const node = this.nodes[i].getBoundingClientRect();
    const stage = this.stage.getBoundingClientRect();
    const left = Math.min(node.left - stage.left + 20, stage.width - tip.offsetWidth - 4);
    const under = node.bottom - stage.top + 4;
    const over = node.top - stage.top - tip.offsetHeight - 4;
    tip.style.left = Math.max(4, left) + "px";
    tip.style.top = Math.max(4, under + tip.offsetHeight < stage.height ? under : over) + "px";
  }

  choose(i) {
    this.nodes.forEach((node, k) => node.classList.toggle("chosen", k === i));
    for (const { path, isLearned, from, to } of this.edges) {
      path.classList.toggle("near", isLearned && (from === i || to === i));
    }
    const goTo = (column) => {
      this.choose(this.nodeOfColumn.get(column));
      this.walkTo(this.nodeOfColumn.get(column));
    };
    setContent(this.near, ontologyNeighbours(this.dataset, this.why.features[i], this.nodeOfColumn, goTo));
  }

  // Tab reaches one node at a time: the one that was last walked to.
  walkTo(i) {
    if (i === undefined) return;
    for (const node of this.nodes) node.setAttribute("tabindex", -1);
    this.nodes[i].setAttribute("tabindex", 0);
    this.view.reveal(this.x[i], this.y[i]);
    this.nodes[i].focus({ preventScroll: true });
  }

  pressKey(event) {
    const i = Number(event.target.dataset?.node ?? -1);
    if (i < 0 || event.ctrlKey || event.metaKey || event.altKey) return;
    const act = this.keyActions(i)[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  }

  keyActions(i) {
    const { why, shape, x, y, view } = this;
    const level = shape.order.filter((k) => x[k] === x[i]).sort((a, b) => y[a] - y[b]);
    const at = level.indexOf(i);
    return {
      ArrowLeft: () => this.walkTo(why.parents[i] >= 0 ? why.parents[i] : undefined),
      ArrowRight: () => this.walkTo(shape.below[i][0]),
      ArrowUp: () => this.walkTo(level[at - 1]),
      ArrowDown: () => this.walkTo(level[at + 1]),
      Home: () => this.walkTo(shape.order[0]),
      Enter: () => this.choose(i),
      " ": () => this.choose(i),
      "+": () => view.zoom(ZOOM_STEP),
      "-": () => view.zoom(1 / ZOOM_STEP),
      0: () => view.fit(),
      Escape: () => {
        this.tip.hidden = true;
      },
    };
  }
}

function learnedEdge([x1, y1], [x2, y2], columnWidth) {
  const bend = columnWidth / 2;
  return `M${x1},${y1}C${x1 + bend},${y1} ${x2 - bend},${y2} ${x2},${y2}`;
}

function ontologyEdge([x1, y1], [x2, y2]) {
  return `M${x1},${y1}Q${(x1 + x2) / 2 + (y2 - y1) / 5 + 12},${(y1 + y2) / 2} ${x2},${y2}`;
}

const overlaps = (a, b) => a[0] <= b[2] && b[0] <= a[2] && a[1] <= b[3] && b[1] <= a[3];

function legendItem(circle, text) {
  const size = { width: 14, height: 14, "aria-hidden": "true" };
  return el("li", {}, svg("svg", size, svg("circle", { cx: 7, cy: 7, ...circle })), text);
}

function nodeFacts(dataset, why, i) {
  const p = why.parents[i];
  const facts = [`value ${why.values[i]}`];
  if (p >= 0) facts.push(`given ${termText(dataset, why.features[p])} = ${why.values[p]}`);
  if (why.probabilities) {
    const inClass = (label, k) => `${probability(why.probabilities[k][i])} in ${classOfLabel(dataset, label)}`;
    facts.push("probability of this value " + why.classes.map(inClass).join(", "));
  }
  return facts;
}

function nodeSentence(dataset, why, i) {
  const column = why.features[i];
  const contribution = `contribution ${signed(why.contributions[i])}`;
  const facts = [contribution, ...nodeFacts(dataset, why, i)].join("; ");
  return `${termText(dataset, column)} ${dataset.features[column]}: ${facts}`;
}

function tipContent(dataset, why, i) {
  const column = why.features[i];
  return [
    el("b", {}, bdi(termText(dataset, column))),
    bdi(dataset.features[column], { class: "note" }),
    el("div", {}, "contribution ", el("strong", {}, signed(why.contributions[i], 3))),
    nodeFacts(dataset, why, i).map((fact) => el("div", {}, bdi(fact))),
  ];
}

function ontologyNeighbours(dataset, column, nodeOfColumn, goTo) {
  const item = (other) =>
    el("li", {}, nodeOfColumn.has(other) && [button("find", () => goTo(other)), " "], term(dataset, other));
  const list = (title, found) => [
    el("div", { class: "note" }, `${title}: ${found.length || "none"}`),
    found.length > 0 && el("ul", {}, found.map(item)),
  ];
  return el(
    "div",
    { class: "neighbours" },
    el("strong", {}, "In the ontology: "),
    term(dataset, column),
    list("directly above", dataset.ontology[column] || []),
    list("directly below", childrenOf(dataset, column)),
  );
}
