// Downloads: the numbers of a table as CSV, and a picture as SVG. Nothing leaves the computer.
function saveFile(name, text, type) {
  const href = URL.createObjectURL(new Blob([text], { type }));
  el("a", { href, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(href), 1000);
}

const fileStem = (text) => text.replace(/[^\w.-]+/g, "-").replace(/^-+|-+$/g, "") || "table";

// A spreadsheet must not read a name as a formula: such names get an apostrophe, as in the files of a study.
function csvCell(value) {
  if (value === null || value === undefined) return "";
  const text = typeof value === "string" && /^[=+\-@＝＋－＠\t\r\n]/.test(value) ? "'" + value : String(value);
  return ['"', ",", ";", "\r", "\n"].some((character) => text.includes(character))
    ? `"${text.replaceAll('"', '""')}"`
    : text;
}

const csvText = (heads, rows) => [heads, ...rows].map((row) => row.map(csvCell).join(",") + "\r\n").join("");

// The file is made when the button is pressed; it may be empty.
function saveButton(format, what, type, make) {
  const save = () => {
    const text = make();
    if (text) saveFile(`${fileStem(what)}.${format.toLowerCase()}`, text, type);
  };
  const title = `Save as ${format}`;
  return button(format, save, { class: "button small", "aria-label": `${title}: ${what}`, title });
}

// `contents` are the heads and the rows.
const csvButton = (what, contents) => saveButton("CSV", what, "text/csv", () => csvText(...contents()));

const svgButton = (what, box) => {
  const picture = () => box.querySelector("svg:not([aria-hidden])");
  return saveButton("SVG", what, "image/svg+xml", () => picture() && standaloneSvg(picture()));
};

// A separate SVG file has no style sheet, so its styles are written into the picture.
const PAINT_STYLES = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray"];
const TEXT_STYLES = ["fill", "stroke", "stroke-width", "paint-order", "font-size", "font-family", "font-weight"];

function standaloneSvg(picture) {
  const copy = picture.cloneNode(true);
  const originals = [picture, ...picture.querySelectorAll("*")];
  const copies = [copy, ...copy.querySelectorAll("*")];
  originals.forEach((original, i) => {
    const computed = getComputedStyle(original);
    const names = original.tagName === "text" ? TEXT_STYLES : PAINT_STYLES;
    for (const name of names) copies[i].setAttribute(name, computed.getPropertyValue(name));
    copies[i].removeAttribute("tabindex");
  });
  const { width, height } = picture.getBoundingClientRect();
  const background = getComputedStyle(document.querySelector(".card")).backgroundColor;
  fill(copy, { xmlns: SVG_NAMESPACE, width, height }, []);
  copy.prepend(svg("rect", { width: "100%", height: "100%", fill: background }));
  return new XMLSerializer().serializeToString(copy);
}
