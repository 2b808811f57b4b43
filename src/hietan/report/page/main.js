// The parts of the page behind their tabs; each is made when it is first looked at.
const parts = isStudy ? [["overview", "Overview", overview], ["features", "Features", features], ["genes", "Genes", genes]] : [["genes", "Genes", genes]];
const tabs = document.getElementById("tabs"), main = document.getElementById("main");
const made = parts.map(([id, label, make], i) => {
  const panel = el("section", { class: "part", id, role: parts.length > 1 ? "tabpanel" : null, "aria-labelledby": parts.length > 1 ? "tab-" + id : null, hidden: true });
  const tab = el("button", { type: "button", role: "tab", id: "tab-" + id, "aria-controls": id, onclick: () => show(i, true) }, label);
  return { id, panel, tab, make, ready: false };
});
clear(main, made.map((part) => part.panel));
if (made.length > 1) clear(tabs, made.map((part) => part.tab)); else tabs.remove();

function build(part) {
  if (part.ready) return;
  part.ready = true;
  clear(part.panel, part.make());
}

function show(chosen, byHand) {
  build(made[chosen]);
  made.forEach(({ panel, tab }, i) => {
    panel.hidden = i !== chosen;
    tab.setAttribute("aria-selected", i === chosen);
    tab.tabIndex = i === chosen ? 0 : -1;
  });
  if (byHand) history.replaceState(null, "", "#" + made[chosen].id);
}

tabs.addEventListener("keydown", (event) => {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!step) return;
  const now = made.findIndex(({ tab }) => tab === document.activeElement), next = (now + step + made.length) % made.length;
  show(next, true);
  made[next].tab.focus();
});
const goTo = () => { const i = made.findIndex(({ id }) => id === location.hash.slice(1)); if (i >= 0) show(i); };
addEventListener("hashchange", goTo);
addEventListener("beforeprint", () => made.forEach(build));
show(0);
goTo();
document.documentElement.dataset.ready = "yes";
performance.mark("ready");
