// The parts of the report behind their tabs; each is built when it is first shown.
const STUDY_PARTS = [
  ["overview", "Overview", overview],
  ["features", "Features", features],
  ["rows", capitalised(rowNouns), rows],
];
const CANDIDATE_PARTS = [["rows", capitalised(rowNouns), rows]];

const tabList = document.getElementById("tabs");
const parts = (isStudy ? STUDY_PARTS : CANDIDATE_PARTS).map(makePart);

function makePart([id, label, build], i, all) {
  const named = all.length > 1 ? { role: "tabpanel", "aria-labelledby": "tab-" + id } : {};
  const panel = el("section", { class: "part", id, ...named, hidden: true });
  const tab = el(
    "button",
    { type: "button", role: "tab", id: "tab-" + id, "aria-controls": id, onclick: () => chooseTab(i) },
    label,
  );
  return { id, panel, tab, build, isBuilt: false };
}

function ensureBuilt(part) {
  if (part.isBuilt) return;
  part.isBuilt = true;
  setContent(part.panel, part.build());
}

function showPart(chosen) {
  ensureBuilt(parts[chosen]);
  parts.forEach(({ panel, tab }, i) => {
    panel.hidden = i !== chosen;
    tab.setAttribute("aria-selected", i === chosen);
    tab.tabIndex = i === chosen ? 0 : -1;
  });
}

function chooseTab(chosen) {
  showPart(chosen);
  writeAddress("replaceState", "#" + parts[chosen].id);
}

function walkTabs(event) {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!step) return;
  const now = parts.findIndex(({ tab }) => tab === document.activeElement);
  const next = (now + step + parts.length) % parts.length;
  chooseTab(next);
  parts[next].tab.focus();
}

// The part that shows a row, a term or a method.
const PART_OF = { row: "rows", term: "features", method: "overview" };

function followHash() {
  const address = readAddress(location.hash);
  const wanted = address ? PART_OF[address[0]] : location.hash.slice(1);
  const i = parts.findIndex(({ id }) => id === wanted);
  if (i < 0) return;
  showPart(i);
  if (address) openers.get(address[0])?.(...address.slice(1));
}

setContent(
  document.getElementById("main"),
  parts.map((part) => part.panel),
);
if (parts.length > 1) {
  setContent(
    tabList,
    parts.map((part) => part.tab),
  );
} else {
  tabList.remove();
}
tabList.addEventListener("keydown", walkTabs);
addEventListener("popstate", followHash);
addEventListener("beforeprint", () => parts.forEach(ensureBuilt));
append(document.getElementById("footer"), [" ", button("Print all parts", () => print(), { class: "button small" })]);
showPart(0);
followHash();
document.documentElement.dataset.ready = "yes";
performance.mark("ready");
