// The learned tree as an outline: one feature per line, its children below it, the strongest path first. Lines never
// overlap, so no name covers a node or another name on narrow screens.
const TREE_LINE = 26;
const PATHS_OPEN = 8;

// The features directly below each feature and the roots, the branch with the strongest feature first; and the number
// of features below each.
function treeShape(why) {
  const below = why.features.map(() => []);
  const roots = [];
  why.parents.forEach((p, i) => (p < 0 ? roots : below[p]).push(i));
  const order = [];
  const stack = roots.slice();
  while (stack.length) {
    const i = stack.pop();
    order.push(i);
    stack.push(...below[i]);
  }
  const strength = why.contributions.map(Math.abs);
  const sizes = why.features.map(() => 0);
  for (const i of order.reverse()) {
    for (const child of below[i]) {
      strength[i] = Math.max(strength[i], strength[child]);
      sizes[i] += 1 + sizes[child];
    }
  }
  for (const list of [roots, ...below]) list.sort((a, b) => strength[b] - strength[a] || a - b);
  return { below, roots, sizes };
}

const textMeasure = document.createElement("canvas").getContext("2d");

// The width of a text in pixels.
function textWidth(text) {
  textMeasure.font = "12px " + getComputedStyle(document.body).fontFamily;
  return textMeasure.measureText(text).width;
}

// The part of a text that fits into some pixels.
function fitText(text, room) {
  const fits = (length) => textWidth(shorten(text, length)) <= room;
  if (fits(text.length)) return text;
  let [low, high] = [1, text.length];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (fits(middle)) low = middle;
    else high = middle;
  }
  return shorten(text, low);
}

class TreeDrawing {
  constructor(dataset, why, title) {
    Object.assign(this, { dataset, why, title });
    this.shape = treeShape(why);
    this.strongest = Math.max(1e-9, ...why.contributions.map(Math.abs));
    this.nodeOfColumn = new Map(why.features.map((column, i) => [column, i]));
    this.tip = el("div", { class: "tip", hidden: true });
    this.near = el("div", { "aria-live": "polite" });
    this.open = this.strongPaths();
    this.current = this.shape.roots[0];
    this.chosen = null;
    this.showsOntology = false;
    this.width = 0;
    this.picture = drawnToWidth((width) => {
      this.width = width;
      return this.draw();
    });
    this.stage = el("div", { class: "stage" }, this.picture, this.tip);
  }

  // The lines that are open at first: the paths to the strongest features.
  strongPaths() {
    const { contributions, parents } = this.why;
    const open = new Set();
    for (const i of byStrength(contributions).slice(0, PATHS_OPEN)) {
      for (let p = parents[i]; p >= 0 && !open.has(p); p = parents[p]) open.add(p);
    }
    return open;
  }

  elements() {
    const { why } = this;
    const showOntology = (shown) => {
      this.showsOntology = shown;
      this.redraw();
    };
    const openAll = () => this.setOpen(new Set(why.features.keys()));
    return el(
      "div",
      { class: "tree" },
      legend(
        legendItem({ r: 6, fill: "var(--pro)" }, `evidence for ${why.target}`),
        legendItem({ r: 6, fill: "var(--anti)" }, "evidence against it"),
        legendItem({ r: 5, class: "hollow" }, `hollow: the ${rowNoun} lacks the term`),
        el("li", {}, "larger: larger contribution"),
      ),
      el(
        "div",
        { class: "controls tools" },
        button("Open all", openAll),
        button("Strongest paths", () => this.setOpen(this.strongPaths())),
        button("Close all", () => this.setOpen(new Set())),
        svgButton(`tree ${this.title}`, this.picture),
      ),
      this.stage,
      checkbox("Show edges of the ontology (dashed)", showOntology),
      this.near,
    );
  }

  setOpen(open) {
    this.open = open;
    this.redraw();
  }

  redraw() {
    if (this.width) setContent(this.picture, this.draw());
  }

  // The lines from top to bottom: [feature, depth]. A stack, not recursion: trees can be deep.
  lines() {
    const { below, roots } = this.shape;
    const found = [];
    const stack = roots.map((i) => [i, 0]).reverse();
    while (stack.length) {
      const [i, depth] = stack.pop();
      found.push([i, depth]);
      if (!this.open.has(i)) continue;
      for (const child of below[i].slice().reverse()) stack.push([child, depth + 1]);
    }
    return found;
  }

  draw() {
    const { width, why, title } = this;
    this.shown = this.lines();
    if (!this.shown.some(([i]) => i === this.current)) this.current = this.shown[0][0];
    const deepest = Math.max(1, ...this.shown.map(([, depth]) => depth));
    const indent = Math.min(22, Math.max(3, (0.4 * width) / deepest));
    const place = new Map(
      this.shown.map(([i, depth], line) => [i, { x: 30 + depth * indent, y: (line + 0.5) * TREE_LINE + 4, depth }]),
    );
    const edges = this.shown.filter(([i]) => why.parents[i] >= 0).map(([i]) => this.edge(place, why.parents[i], i));
    this.nodes = new Map(this.shown.map(([i]) => [i, this.node(i, place.get(i))]));
    const help =
      `${title}: learned tree of ${plural(why.features.length, "feature")}, the strongest paths first. Up and down ` +
      "move between lines, right opens and left closes a branch, Enter shows a term's neighbours.";
    return svg(
      "svg",
      {
        ...{ width, height: this.shown.length * TREE_LINE + 8, role: "tree", "aria-label": help },
        onkeydown: (event) => this.pressKey(event),
      },
      edges,
      this.showsOntology && this.ontologyEdges(place),
      [...this.nodes.values()],
      this.shown.map(([i]) => this.numbers(i, place.get(i).y + 4)),
    );
  }

  edge(place, from, to) {
    const [a, b] = [place.get(from), place.get(to)];
    const isNear = this.chosen === from || this.chosen === to;
    const attributes = { class: isNear ? "edge near" : "edge", "data-from": from, "data-to": to };
    return svg("path", { ...attributes, d: `M${a.x},${a.y + this.radius(from)}V${b.y}H${b.x - this.radius(to)}` });
  }

  ontologyEdges(place) {
    const { dataset, why, nodeOfColumn } = this;
    return this.shown.flatMap(([i]) => {
      const parents = (dataset.ontology[why.features[i]] || []).map((column) => nodeOfColumn.get(column));
      const arc = (p) => {
        const [a, b] = [place.get(p), place.get(i)];
        const bend = Math.min(a.x, b.x) - 18;
        return svg("path", { class: "isa", d: `M${a.x},${a.y}C${bend},${a.y} ${bend},${b.y} ${b.x},${b.y}` });
      };
      return parents.filter((p) => place.has(p)).map(arc);
    });
  }

  // The square root, so that the area of a point grows with the contribution.
  radius(i) {
    return 3 + 6 * Math.sqrt(Math.abs(this.why.contributions[i]) / this.strongest);
  }

  node(i, { x, y, depth }) {
    const { why, dataset } = this;
    const r = this.radius(i);
    const hasMore = this.shape.below[i].length > 0;
    const isOpen = this.open.has(i);
    const start = x + 16;
    const show = () => this.showTip(i);
    const hide = () => this.hideTip();
    const room = this.width - start - (hasMore && !isOpen ? 100 : 66);
    return svg(
      "g",
      {
        class: [why.values[i] ? "node" : "node zero", i === this.chosen && "chosen"].filter(Boolean).join(" "),
        role: "treeitem",
        tabindex: i === this.current ? 0 : -1,
        "data-node": i,
        "aria-level": depth + 1,
        "aria-expanded": hasMore ? isOpen : null,
        "aria-selected": i === this.chosen,
        "aria-label": nodeSentence(dataset, why, i),
        style: { color: towards(why.contributions[i]) },
        onclick: () => this.press(i),
        onfocus: show,
        onblur: hide,
        onmouseenter: show,
        onmouseleave: hide,
      },
      svg("rect", { class: "halo", x: 2, y: y - TREE_LINE / 2, width: this.width - 4, height: TREE_LINE, rx: 5 }),
      hasMore && svg("path", { class: "fold", d: foldMark(x - r - 9, y, isOpen) }),
      svg("circle", { class: "dot", cx: x, cy: y, r, fill: "currentColor" }),
      svg("text", { x: start, y: y + 4 }, fitText(termText(dataset, why.features[i]), room)),
    );
  }

  // The text at the end of a line: how much is folded, and the contribution. The line's accessible name includes both,
  // so this text is only visual.
  numbers(i, y) {
    const [adds, folded] = [this.why.contributions[i], this.open.has(i) ? 0 : this.shape.sizes[i]];
    return svg(
      "g",
      { "aria-hidden": "true", class: "numbers", style: { color: towards(adds) } },
      folded > 0 && svgText(this.width - 58, y, "end", `+${count(folded)}`, { class: "soft" }),
      svgText(this.width - 8, y, "end", signed(adds), { class: "adds" }),
    );
  }

  // Below the node, or above it if there is no room below; never outside the stage.
  showTip(i) {
    const { tip } = this;
    setContent(tip, tipContent(this.dataset, this.why, i));
    tip.hidden = false;
    const dot = this.nodes.get(i).querySelector(".dot").getBoundingClientRect();
    const stage = this.stage.getBoundingClientRect();
    const left = Math.min(dot.left - stage.left + 24, stage.width - tip.offsetWidth - 12);
    const under = dot.bottom - stage.top + 8;
    const over = dot.top - stage.top - tip.offsetHeight - 8;
    tip.style.left = Math.max(4, left) + "px";
    tip.style.top = this.stage.scrollTop + Math.max(4, under + tip.offsetHeight < stage.height ? under : over) + "px";
  }

  hideTip() {
    this.tip.hidden = true;
  }

  // Pressing a line opens or closes it and shows where its term is in the ontology.
  press(i) {
    const hadFocus = this.picture.contains(document.activeElement);
    if (this.shape.below[i].length) this.toggle(i);
    this.choose(i);
    if (hadFocus) this.walkTo(i);
  }

  toggle(i) {
    if (this.open.has(i)) this.open.delete(i);
    else this.open.add(i);
  }

  choose(i) {
    this.chosen = i;
    this.current = i;
    this.redraw();
    const goTo = (column) => {
      const found = this.nodeOfColumn.get(column);
      for (let p = this.why.parents[found]; p >= 0; p = this.why.parents[p]) this.open.add(p);
      this.choose(found);
      this.walkTo(found);
    };
    setContent(this.near, ontologyNeighbours(this.dataset, this.why.features[i], this.nodeOfColumn, goTo));
  }

  // Tab reaches one line at a time: the last one visited.
  walkTo(i) {
    if (i === undefined || !this.nodes.has(i)) return;
    this.nodes.get(this.current)?.setAttribute("tabindex", -1);
    this.current = i;
    this.nodes.get(i).setAttribute("tabindex", 0);
    this.nodes.get(i).focus();
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
    const { why, shape } = this;
    const at = this.shown.findIndex(([k]) => k === i);
    const parent = why.parents[i] >= 0 ? why.parents[i] : undefined;
    const hasMore = shape.below[i].length > 0;
    const toggle = () => {
      this.toggle(i);
      this.redraw();
      this.walkTo(i);
    };
    const choose = () => {
      this.choose(i);
      this.walkTo(i);
    };
    return {
      ArrowUp: () => this.walkTo(this.shown[at - 1]?.[0]),
      ArrowDown: () => this.walkTo(this.shown[at + 1]?.[0]),
      ArrowRight: () => (hasMore && !this.open.has(i) ? toggle() : this.walkTo(shape.below[i][0])),
      ArrowLeft: () => (hasMore && this.open.has(i) ? toggle() : this.walkTo(parent)),
      Home: () => this.walkTo(this.shown[0][0]),
      End: () => this.walkTo(this.shown.at(-1)[0]),
      Enter: choose,
      " ": choose,
      Escape: () => this.hideTip(),
    };
  }
}

const foldMark = (x, y, isOpen) => (isOpen ? `M${x - 4},${y - 2}h8l-4,5z` : `M${x - 2},${y - 4}v8l5,-4z`);

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
