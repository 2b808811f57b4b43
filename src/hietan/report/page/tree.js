// The learned tree: from the root on the left to the leaves on the right; to be moved, zoomed and walked through.
// Points and names keep their size when zoomed: closer in there is room for more names.
const LABELS = innerWidth < 700 ? 7 : 13;

function layout(why) {
  const n = why.features.length, below = Array.from({ length: n }, () => []), roots = [];
  why.parents.forEach((p, i) => (p < 0 ? roots : below[p]).push(i));
  const strength = why.contributions.map(Math.abs), x = new Array(n), y = new Array(n), order = [];
  for (const list of [roots, ...below]) list.sort((a, b) => strength[b] - strength[a] || a - b);
  let leaf = 0;
  const stack = roots.slice().reverse().map((i) => [i, 0, false]);
  while (stack.length) {
    const [i, depth, done] = stack.pop();
    if (done) { y[i] = below[i].length ? (y[below[i][0]] + y[below[i].at(-1)]) / 2 : leaf++; continue; }
    x[i] = depth; order.push(i); stack.push([i, depth, true]);
    for (const child of below[i].slice().reverse()) stack.push([child, depth + 1, false]);
  }
  return { depth: x, line: y, below, order, size: [Math.max(1, ...x), Math.max(1, leaf - 1)] };
}

function treeView(dataset, why, title) {
  const n = why.features.length, { depth, line, below, order, size } = layout(why);
  const x = new Array(n).fill(0), y = new Array(n).fill(0), drawn = [];
  let column = 1;
  const strongest = Math.max(1e-9, ...why.contributions.map(Math.abs));
  const byStrength = order.slice().sort((a, b) => Math.abs(why.contributions[b]) - Math.abs(why.contributions[a]));
  const place = new Map(why.features.map((j, i) => [j, i]));
  const tip = el("div", { class: "tip", hidden: true }), near = el("div", { "aria-live": "polite" });
  const world = svg("g"), ontology = svg("g", { class: "ontology", visibility: "hidden" });
  const curve = (a, b) => `M${x[a]},${y[a]}C${x[a] + column / 2},${y[a]} ${x[b] - column / 2},${y[b]} ${x[b]},${y[b]}`;
  const arc = (a, b) => `M${x[a]},${y[a]}Q${(x[a] + x[b]) / 2 + (y[b] - y[a]) / 5 + 12},${(y[a] + y[b]) / 2} ${x[b]},${y[b]}`;
  const edge = (box, way, a, b, cls) => { const path = svg("path", { class: cls, "data-from": a, "data-to": b }); box.append(path); drawn.push(() => path.setAttribute("d", way(a, b))); };
  why.parents.forEach((p, i) => p >= 0 && edge(world, curve, p, i, "edge"));
  why.features.forEach((j, i) => (dataset.ontology[j] || []).forEach((p) => place.has(p) && edge(ontology, arc, place.get(p), i, "isa")));
  world.append(ontology);
  const radius = (i) => 3 + 7 * Math.sqrt(Math.abs(why.contributions[i]) / strongest);
  const texts = why.features.map((j, i) => svg("text", below[i].length ? { x: depth[i] ? 0 : -8, y: -radius(i) - 5, "text-anchor": depth[i] ? "middle" : "start" } : { x: radius(i) + 5, y: 4 }, shorten(plainTerm(dataset, j), 30)));
  const nodes = why.features.map((j, i) => {
    const c = why.contributions[i], r = radius(i), colour = c >= 0 ? "var(--pro)" : "var(--anti)";
    return svg("g", { class: "node" + (why.values[i] ? "" : " zero"), role: "button", tabindex: i === order[0] ? 0 : -1, "data-node": i,
      "aria-label": sentence(dataset, why, i), style: { color: colour },
      onclick: () => choose(i), onfocus: () => show(i), onblur: () => { tip.hidden = true; }, onmouseenter: () => show(i), onmouseleave: () => { tip.hidden = true; } },
    svg("g", { class: "steady" }, svg("circle", { class: "halo", r: r + 5 }), svg("circle", { class: "dot", r, fill: "currentColor" }), texts[i]));
  });
  for (const i of byStrength.slice().reverse()) world.append(nodes[i]);
  // The strongest are named first; a name that would lie on another one waits until there is room.
  const nameNodes = (k) => {
    const taken = [];
    let left = Math.round(LABELS * Math.max(1, k) ** 2);
    for (const i of byStrength) {
      const w = 6.7 * texts[i].textContent.length + 6, px = k * x[i], py = k * y[i], r = radius(i);
      const start = depth[i] ? px - w / 2 : px - 8;
      const box = below[i].length ? [start, py - r - 19, start + w, py - r - 2] : [px + r + 2, py - 9, px + r + w, py + 9];
      const free = left > 0 && taken.every((b) => box[2] < b[0] || b[2] < box[0] || box[3] < b[1] || b[3] < box[1]);
      if (free) { taken.push(box); left--; }
      texts[i].setAttribute("visibility", free ? "visible" : "hidden");
    }
  };
  const picture = svg("svg", { role: "group", "aria-label": `${title}: learned tree of ${plural(n, "feature")}. Arrow keys walk along it, plus and minus zoom, Enter shows a term's neighbours.`, onkeydown: keys }, world);
  // Room for names beside the leaves and above the first line; the tree takes what is left, but no more than it needs.
  const arrange = (width, height) => {
    const beside = Math.min(150, 0.3 * width), row = Math.min(44, (height - 90) / size[1]);
    column = Math.min(160, (width - 60 - beside) / size[0]);
    for (let i = 0; i < n; i++) { x[i] = depth[i] * column; y[i] = line[i] * row; nodes[i].setAttribute("transform", `translate(${x[i]},${y[i]})`); }
    for (const draw of drawn) draw();
    return [Math.max(50, (width - size[0] * column - beside) / 2), Math.max(60, (height - size[1] * row) / 2)];
  };
  const view = zoomable(picture, world, arrange, nameNodes);
  const stage = el("div", { class: "stage" }, picture, tip, el("div", { class: "tools" },
    [["+", "Zoom in", () => view.zoom(1.4)], ["−", "Zoom out", () => view.zoom(1 / 1.4)], ["⤢", "Show the whole tree", () => view.fit()]].map(([sign, label, act]) =>
      el("button", { type: "button", class: "button", "aria-label": label, title: label, onclick: act }, sign))));

  function show(i) {
    clear(tip, tipContent(dataset, why, i));
    tip.hidden = false;
    const node = nodes[i].getBoundingClientRect(), box = stage.getBoundingClientRect();
    tip.style.left = Math.max(4, Math.min(node.left - box.left + 20, box.width - tip.offsetWidth - 4)) + "px";
    const under = node.bottom - box.top + 4;
    tip.style.top = Math.max(4, under + tip.offsetHeight < box.height ? under : node.top - box.top - tip.offsetHeight - 4) + "px";
  }
  function choose(i) {
    nodes.forEach((node, k) => node.classList.toggle("chosen", k === i));
    world.querySelectorAll(".edge").forEach((e) => e.classList.toggle("near", Number(e.dataset.from) === i || Number(e.dataset.to) === i));
    clear(near, neighbours(dataset, why.features[i], place, (j) => { choose(place.get(j)); walk(place.get(j)); }));
  }
  function walk(i) {
    if (i === undefined) return;
    for (const node of nodes) node.setAttribute("tabindex", -1);
    nodes[i].setAttribute("tabindex", 0);
    view.reveal(x[i], y[i]);
    nodes[i].focus({ preventScroll: true });
  }
  function keys(event) {
    const i = Number(event.target.dataset?.node ?? -1);
    if (i < 0 || event.ctrlKey || event.metaKey || event.altKey) return;
    const level = order.filter((k) => x[k] === x[i]).sort((a, b) => y[a] - y[b]), at = level.indexOf(i);
    const act = { ArrowLeft: () => walk(why.parents[i] >= 0 ? why.parents[i] : undefined), ArrowRight: () => walk(below[i][0]), ArrowUp: () => walk(level[at - 1]), ArrowDown: () => walk(level[at + 1]),
      Home: () => walk(order[0]), Enter: () => choose(i), " ": () => choose(i), "+": () => view.zoom(1.4), "-": () => view.zoom(1 / 1.4), "0": () => view.fit(), Escape: () => { tip.hidden = true; } }[event.key];
    if (act) { event.preventDefault(); act(); }
  }

  const check = el("input", { type: "checkbox", id: newId("isa"), onchange: () => ontology.setAttribute("visibility", check.checked ? "visible" : "hidden") });
  return el("div", { class: "tree", "data-nodes": n },
    el("ul", { class: "legend" }, legend("var(--pro)", `speaks for ${why.target}`), legend("var(--anti)", "speaks against it"), legend(null, "hollow: the gene lacks the term"), el("li", {}, "larger: counts more")),
    stage, el("div", { class: "check" }, check, el("label", { for: check.id }, "Show the ontology's own edges, dashed")), near);
}

const legend = (colour, text) => el("li", {}, svg("svg", { width: 14, height: 14, "aria-hidden": "true" }, svg("circle", colour ? { cx: 7, cy: 7, r: 6, fill: colour } : { cx: 7, cy: 7, r: 5, class: "hollow" })), text);

function facts(dataset, why, i) {
  const p = why.parents[i], lines = [`value ${why.values[i]}`];
  if (p >= 0) lines.push(`given ${plainTerm(dataset, why.features[p])} = ${why.values[p]}`);
  if (why.probabilities) lines.push("probability of this value " + why.classes.map((c, k) => `${probability(why.probabilities[k][i])} in ${className(dataset, c)}`).join(", "));
  return lines;
}
const sentence = (dataset, why, i) => `${plainTerm(dataset, why.features[i])} ${dataset.features[why.features[i]]}: contribution ${signed(why.contributions[i])}; ${facts(dataset, why, i).join("; ")}`;
const tipContent = (dataset, why, i) => [el("b", {}, name(plainTerm(dataset, why.features[i]))), name(dataset.features[why.features[i]], { class: "note" }),
  el("div", {}, "contribution ", el("strong", {}, signed(why.contributions[i], 3))), facts(dataset, why, i).map((line) => el("div", {}, name(line)))];

function neighbours(dataset, j, place, go) {
  const item = (k) => el("li", {}, place.has(k) ? [el("button", { type: "button", class: "button", onclick: () => go(k) }, "find"), " "] : "", term(dataset, k));
  const list = (title, found) => [el("div", { class: "note" }, `${title}: ${found.length || "none"}`), found.length ? el("ul", {}, found.map(item)) : ""];
  return el("div", { class: "neighbours" }, el("strong", {}, "In the ontology: "), term(dataset, j), list("right above", dataset.ontology[j] || []), list("right below", children(dataset)[j] || []));
}

// Moving by pointer, zooming by buttons, pinch, or the wheel with Ctrl; the first view shows as much as is readable.
function zoomable(picture, world, arrange, onscale) {
  let k = 1, tx = 0, ty = 0;
  const apply = () => {
    world.setAttribute("transform", `translate(${tx},${ty}) scale(${k})`);
    world.style.setProperty("--steady", 1 / k);
  };
  const size = () => picture.getBoundingClientRect();
  const api = {
    fit() {
      const { width, height } = size();
      if (!width) return;
      k = 1; [tx, ty] = arrange(width, height);
      apply(); onscale(k);
    },
    zoom(factor, at) {
      const { width, height } = size(), [cx, cy] = at || [width / 2, height / 2], next = Math.min(30, Math.max(0.3, k * factor));
      tx = cx - ((cx - tx) * next) / k; ty = cy - ((cy - ty) * next) / k; k = next; apply(); onscale(k);
    },
    reveal(x, y) {
      const { width, height } = size(), px = tx + k * x, py = ty + k * y;
      if (px < 30 || px > width - 60) tx = width / 2 - k * x;
      if (py < 30 || py > height - 40) ty = height / 2 - k * y;
      apply();
    },
  };
  const held = new Map();
  picture.addEventListener("pointerdown", (e) => { held.set(e.pointerId, [e.clientX, e.clientY]); });
  picture.addEventListener("pointermove", (e) => {
    if (!held.has(e.pointerId)) return;
    const before = held.get(e.pointerId), now = [e.clientX, e.clientY], others = [...held].filter(([id]) => id !== e.pointerId);
    if (!picture.hasPointerCapture(e.pointerId) && Math.hypot(now[0] - before[0], now[1] - before[1]) < 3) return;
    picture.setPointerCapture(e.pointerId);
    held.set(e.pointerId, now);
    if (others.length === 0) { tx += now[0] - before[0]; ty += now[1] - before[1]; apply(); return; }
    const [, still] = others[0], far = (p) => Math.hypot(p[0] - still[0], p[1] - still[1]), box = size();
    api.zoom(far(now) / Math.max(1, far(before)), [(now[0] + still[0]) / 2 - box.left, (now[1] + still[1]) / 2 - box.top]);
  });
  for (const end of ["pointerup", "pointercancel", "pointerleave"]) picture.addEventListener(end, (e) => held.delete(e.pointerId));
  picture.addEventListener("wheel", (e) => {
    if (!(e.ctrlKey || e.metaKey || picture.contains(document.activeElement))) return;
    e.preventDefault();
    const box = size();
    api.zoom(Math.exp(-e.deltaY / 300), [e.clientX - box.left, e.clientY - box.top]);
  }, { passive: false });
  let width = 0;
  new ResizeObserver(() => { const now = size().width; if (now && now !== width) { width = now; api.fit(); } }).observe(picture);
  return api;
}
