// Elements. All text goes in through text nodes and attributes: nothing that is shown is ever read as HTML.
const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || (value === false && !key.startsWith("aria-"))) continue;
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (key === "style") for (const [name, v] of Object.entries(value)) node.style.setProperty(name, v);
    else node.setAttribute(key, value === true && !key.startsWith("aria-") ? "" : String(value));
  }
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    node.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return node;
}

const el = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
const svg = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);
const clear = (node, ...children) => { node.replaceChildren(...children.flat(Infinity).filter(Boolean)); return node; };
// Names may be written from right to left: each keeps its direction to itself. Very long ones are cut; the title has all.
const LONG = 160;
const name = (text, attributes) => el("bdi", String(text).length > LONG ? { title: text, ...attributes } : attributes, shorten(String(text), LONG));
const shorten = (text, n) => (text.length > n ? text.slice(0, n - 1) + "…" : text);

let ids = 0;
const newId = (stem) => `${stem}-${++ids}`;

function field(label, control, more) {
  control.id = control.id || newId("field");
  return el("div", { class: "field " + (more || "") }, el("label", { for: control.id }, label), control);
}

function choice(label, options, onchange, chosen) {
  const select = el("select", { onchange: () => onchange(select.value) },
    options.map(([value, text]) => el("option", { value, selected: String(value) === String(chosen) }, shorten(text, 60))));
  return field(label, select);
}

function searchBox(label, oninput) {
  let timer;
  const input = el("input", { type: "search", autocomplete: "off", spellcheck: "false",
    oninput: () => { clearTimeout(timer); timer = setTimeout(() => oninput(input.value.trim().toLowerCase()), 60); } });
  return field(label, input, "grow");
}

function pressed(label, options, onchoose, chosen) {
  const group = el("div", { class: "switch", role: "group", "aria-label": label });
  for (const [value, text] of options) {
    group.append(el("button", { type: "button", "aria-pressed": value === chosen, onclick: (event) => {
      for (const other of group.children) other.setAttribute("aria-pressed", other === event.currentTarget);
      onchoose(value);
    } }, text));
  }
  return group;
}

// A scrollable region can be reached and scrolled by keyboard.
const scroller = (label, ...children) => el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": label }, children);
const card = (title, ...children) => el("section", { class: "card" }, title && el("h2", {}, title), children);

function redrawn(draw) {
  const box = el("div");
  let width = 0;
  new ResizeObserver(() => {
    const now = Math.floor(box.clientWidth);
    if (now > 0 && now !== width) { width = now; clear(box, draw(now)); }
  }).observe(box);
  return box;
}
