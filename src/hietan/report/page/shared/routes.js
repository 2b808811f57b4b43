// Addresses within the page: #row/daf-16, #term/GO:0006914, #method/tan; each part says how it opens what it shows.
const openers = new Map();

const addressOf = (kind, name) => `#${kind}/${encodeURIComponent(String(name).toWellFormed())}`;
const methodLink = (m) => el("a", { href: addressOf("method", methods[m].key) }, bdi(methods[m].name));

// [kind, name] of an address, or null: a link may hold anything.
function readAddress(hash) {
  const found = /^#(row|term|method)\/(.+)$/s.exec(hash);
  if (!found) return null;
  try {
    return [found[1], decodeURIComponent(found[2])];
  } catch {
    return null;
  }
}

// The address follows what is looked at, so that it can be copied; going back leads to what was seen before.
function setAddress(kind, name) {
  const address = addressOf(kind, name);
  if (location.hash !== address) writeAddress("pushState", address);
}

// A page inside a notebook has no address of its own: then there is none to write.
function writeAddress(how, address) {
  try {
    history[how](null, "", address);
  } catch (error) {
    if (error.name !== "SecurityError") throw error;
  }
}
