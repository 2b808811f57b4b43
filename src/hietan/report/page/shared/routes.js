// Addresses within the report: #row/daf-16, #term/GO:0006914, #method/tan; each part registers how to open its own.
// With several datasets, the address of a row ends with the name of its dataset: #row/daf-16/CE-BP.
const openers = new Map();

const addressOf = (kind, ...names) =>
  `#${kind}/` + names.map((name) => encodeURIComponent(String(name).toWellFormed())).join("/");
const methodLink = (m) => el("a", { href: addressOf("method", methods[m].name) }, bdi(methods[m].name));

// [kind, name, optional dataset] of an address, or null: a link may contain anything.
function readAddress(hash) {
  const found = /^#(row|term|method)\/(.+)$/s.exec(hash);
  if (!found) return null;
  try {
    return [found[1], ...found[2].split("/").map(decodeURIComponent)];
  } catch {
    return null;
  }
}

// The address follows the view, so that it can be copied; going back returns to the previous view.
function setAddress(...place) {
  const address = addressOf(...place);
  if (location.hash !== address) writeAddress("pushState", address);
}

// A report inside a notebook has no address to write.
function writeAddress(how, address) {
  try {
    history[how](null, "", address);
  } catch (error) {
    if (error.name !== "SecurityError") throw error;
  }
}
