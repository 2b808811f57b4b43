// Elements. All text goes in through text nodes and attributes, so no text is ever parsed as HTML.
const SVG_NAMESPACE = "http://www.w3.org/2000/svg";

// ARIA attributes need the words "true" and "false"; any other attribute is left out when false.
function setAttribute(node, key, value) {
  const isAria = key.startsWith("aria-");
  if (value === null || value === undefined || (value === false && !isAria)) return;
  if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
  else if (key === "style") Object.entries(value).forEach(([property, v]) => node.style.setProperty(property, v));
  else node.setAttribute(key, value === true && !isAria ? "" : String(value));
}

// Children may be nodes, text, numbers, lists of them, or nothing: null, undefined and false.
function append(node, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    node.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return node;
}

function fill(node, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) setAttribute(node, key, value);
  return append(node, children);
}

const el = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
const svg = (tag, attributes, ...children) => fill(document.createElementNS(SVG_NAMESPACE, tag), attributes, children);

function setContent(node, ...children) {
  node.replaceChildren();
  return append(node, children);
}

const LONGEST_NAME = 160;
const shorten = (text, length) => (text.length > length ? text.slice(0, length - 1) + "…" : text);

// Names may be written from right to left: each keeps its own direction. Very long ones are cut, with the full name
// in the title.
function bdi(text, attributes = {}) {
  const title = String(text).length > LONGEST_NAME ? { title: text } : {};
  return el("bdi", { ...title, ...attributes }, shorten(String(text), LONGEST_NAME));
}

const note = (...children) => el("p", { class: "note" }, children);
const caution = (...children) => el("p", { class: "caution" }, el("strong", {}, "Note: "), children);

let lastId = 0;
const newId = (stem) => `${stem}-${++lastId}`;

function labelled(label, control, className = "") {
  control.id = control.id || newId("field");
  return el("div", { class: `field ${className}`.trim() }, el("label", { for: control.id }, label), control);
}

function selectField(label, options, onchange, chosen) {
  const asOption = ([value, text]) =>
    el("option", { value, selected: String(value) === String(chosen) }, shorten(text, 60));
  const select = el("select", { onchange: () => onchange(select.value) }, options.map(asOption));
  return labelled(label, select);
}

// Searching waits for a short pause in typing, so that a long list is not filtered at every letter. Enter searches
// immediately and opens the first match, if possible.
function searchField(label, onsearch, onenter = () => {}) {
  let timer;
  const search = () => onsearch(input.value.trim().toLowerCase());
  const oninput = () => {
    clearTimeout(timer);
    timer = setTimeout(search, 60);
  };
  const onkeydown = (event) => {
    if (event.key !== "Enter") return;
    clearTimeout(timer);
    search();
    onenter();
  };
  const input = el("input", { type: "search", autocomplete: "off", spellcheck: "false", oninput, onkeydown });
  return labelled(label, input, "grow");
}

function checkbox(label, onchange, isChecked = false) {
  const input = el("input", { type: "checkbox", id: newId("check"), onchange: () => onchange(input.checked) });
  input.checked = isChecked;
  return el("div", { class: "check" }, input, el("label", { for: input.id }, label));
}

const button = (label, onclick, attributes = {}) =>
  el("button", { type: "button", class: "button", onclick, ...attributes }, label);

// Buttons of which exactly one is pressed.
function switchButtons(label, options, onchoose, chosen) {
  const group = el("div", { class: "switch", role: "group", "aria-label": label });
  for (const [value, text] of options) {
    const onclick = (event) => {
      for (const other of group.children) other.setAttribute("aria-pressed", other === event.currentTarget);
      onchoose(value);
    };
    group.append(el("button", { type: "button", "aria-pressed": value === chosen, onclick }, text));
  }
  return group;
}

// A region that can be reached and scrolled by keyboard; a hint appears if there is more than fits.
function scrollRegion(label, ...children) {
  const region = el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": label }, children);
  const hint = el("p", { class: "note scroll-hint", hidden: true }, "Scroll sideways for more →");
  new ResizeObserver(() => {
    hint.hidden = region.scrollWidth <= region.clientWidth + 1;
  }).observe(region);
  return el("div", { class: "scroll-box" }, region, hint);
}

const details = (attributes, summary, ...children) => el("details", attributes, el("summary", {}, summary), children);

// The content behind a summary, created when it is first opened.
function detailsMadeLate(className, summary, intro, make) {
  const box = el("div", {});
  const ontoggle = (event) => event.target.open && !box.firstChild && append(box, [make()]);
  return details({ class: className, ontoggle }, summary, intro, box);
}

const legend = (...items) => el("ul", { class: "legend" }, items);

function legendItem(circle, text) {
  const size = { width: 14, height: 14, "aria-hidden": "true" };
  return el("li", {}, svg("svg", size, svg("circle", { cx: 7, cy: 7, ...circle })), text);
}

const svgText = (x, y, anchor, text, more = {}) => svg("text", { x, y, "text-anchor": anchor, ...more }, text);

const controls = (...children) => el("div", { class: "controls" }, children);

// A card with buttons next to its title.
const cardWithTools = (title, tools, ...children) =>
  el(
    "section",
    { class: "card" },
    el("div", { class: "card-head" }, el("h2", {}, title), el("div", {}, tools)),
    children,
  );

const card = (title, ...children) => cardWithTools(title, null, children);

const factList = (facts) =>
  el(
    "dl",
    { class: "facts" },
    facts.map(([what, value]) => el("div", {}, el("dt", {}, what), el("dd", {}, value))),
  );

const columnHead = (...children) => el("th", { scope: "col" }, children);
const numberHead = (...children) => el("th", { scope: "col", class: "num" }, children);
const rowHead = (...children) => el("th", { scope: "row" }, children);
const tableRow = (...cells) => el("tr", {}, cells);
const numberCell = (...children) => el("td", { class: "num" }, children);
const table = (attributes, heads, rows) =>
  el("table", attributes, el("thead", {}, el("tr", {}, heads)), el("tbody", {}, rows));

// Parts of a scale from 0 to 1, each with its class, start and length; optionally with a line across.
function bar(parts, line = null) {
  const across = (v) => `${(100 * v).toFixed(1)}%`;
  const part = ([className, start, length]) =>
    el("span", { class: className, style: { left: across(start), width: across(length) } });
  const mark = line !== null && el("i", { style: { left: across(line) } });
  return el("span", { class: "track", "aria-hidden": "true" }, mark, parts.map(part));
}

// A cell that is darker for a larger share.
const shade = (isGood, share) => ({
  class: isGood ? "hit" : "miss",
  style: { "--share": `${(100 * share).toFixed(0)}%` },
});

// A choice, with the drawing for it below.
function drawnByChoice(field, label, options, draw, chosen = options[0][0]) {
  const box = el("div", {}, draw(chosen));
  return [options.length > 1 && controls(field(label, options, (value) => setContent(box, draw(value)), chosen)), box];
}

const moreButton = (left, onclick) => left > 0 && button(`Show more (${count(left)} left)`, onclick);

const joined = (items, separator = ", ") => items.map((item, k) => [k ? separator : "", item]);

// A picture that is redrawn whenever its width changes.
function drawnToWidth(draw) {
  const box = el("div", {});
  let width = 0;
  new ResizeObserver(() => {
    const now = Math.floor(box.clientWidth);
    if (now <= 0 || now === width) return;
    width = now;
    setContent(box, draw(now));
  }).observe(box);
  return box;
}
