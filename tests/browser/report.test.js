// The report as people see it: in a real browser, wide and narrow, light and dark. Run by `make test-browser`.
import { after, before, describe, test } from "node:test";
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { drawn, launch, open, out } from "./browser.js";

const axeSource = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const expected = JSON.parse(readFileSync(path.join(out, "expected.json"), "utf8"));
const PARTS = ["Overview", "Features", "Rows"];
let browser;
before(async () => (browser = await launch()));
after(() => browser.close());

async function visit(file, options, look) {
  const { page, wrong, close } = await open(browser, file, options);
  try {
    await look(page, options);
    assert.deepEqual(wrong, [], "errors on the console, or requests");
  } finally {
    await close();
  }
}

const goToPart = (page, name) => page.getByRole("tab", { name }).click();
const control = (page, label) => page.locator("section.part:not([hidden])").getByLabel(label, { exact: true });

async function picture(page, name) {
  await drawn(page);
  await page.screenshot({ path: path.join(out, name + ".png"), fullPage: true });
}

async function openDetails(page) {
  await page.evaluate(() => {
    for (const details of document.querySelectorAll("details")) details.open = true;
  });
  await drawn(page);
}

// Read by the test, not by the page: its policy lets it run nothing but its own script.
async function noViolations(page) {
  const found = await page.evaluate(async (source) => {
    (0, eval)(source);
    const result = await axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"] });
    if (result.passes.length < 10) throw new Error("axe looked at nothing");
    return result.violations.map(({ id, nodes }) => {
      const examples = nodes.slice(0, 3).map((node) => node.html + " " + node.failureSummary);
      return `${id}: ${examples.join(" | ")}`;
    });
  }, axeSource);
  assert.deepEqual(found, []);
}

async function fitsTheWidth(page, width) {
  assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= width, "the page scrolls sideways");
}

async function noMarkupFromNames(page) {
  assert.equal(await page.locator("main script, main img, main b:not(.tip b)").count(), 0);
}

async function findRow(page, gene) {
  await goToPart(page, "Rows");
  await control(page, "Search rows").fill(gene);
  await control(page, "Dataset").selectOption("0");
  const name = page.locator("bdi", { hasText: new RegExp(`^${gene}$`) });
  await page.locator(".rows button").filter({ has: name }).first().click();
  await page.getByRole("heading", { name: `Row ${gene}`, exact: true }).waitFor();
}

async function overviewShowsTheScores(page, { width }) {
  const cells = () => page.locator(".heat tbody td").allTextContents();
  assert.deepEqual((await cells()).sort(), expected.gmean.slice().sort());
  const auc = page.locator("#ranking .switch").getByRole("button", { name: "AUC" });
  await auc.click();
  assert.deepEqual((await cells()).sort(), expected.auc.slice().sort());
  assert.equal(await auc.getAttribute("aria-pressed"), "true");
  await drawn(page);
  assert.equal(await page.locator("svg[aria-label^='Average ranks']").count(), 1);
  assert.equal(await page.locator(".ranking tbody tr").count(), 3);
  assert.equal(await page.locator(".effects tbody tr").count(), 2);
  await fitsTheWidth(page, width);
  await picture(page, `overview-${width}`);
}

async function featuresAreSortedAndSearched(page, { width }) {
  await goToPart(page, "Features");
  await page.getByRole("button", { name: "Freq. in Edges" }).click();
  const values = await page.$$eval(".usage tbody td:nth-child(4)", (cells) =>
    cells.map((cell) => Number(cell.firstChild.textContent.replaceAll(",", ""))),
  );
  assert.deepEqual(
    values,
    values.slice().sort((a, b) => b - a),
  );
  assert.equal(values[0], expected.most_edges);
  assert.equal(await page.locator(".usage th[aria-sort=descending]").textContent(), "Freq. in Edges");
  const feature = Object.keys(expected.features)[5];
  await control(page, "Search terms").fill(feature);
  await page.getByText(/^1 term of/).waitFor();
  assert.equal(await page.locator(".usage tbody tr").count(), 1);
  const withFirstMethod = await page.locator(".usage tbody tr").textContent();
  await control(page, "Method").selectOption({ label: "TAN" });
  assert.notEqual(await page.locator(".usage tbody tr").textContent(), withFirstMethod);
  await fitsTheWidth(page, width);
  await picture(page, `features-${width}`);
}

async function drawnTree(page) {
  const { nodes, edges } = await page.evaluate(() => {
    const all = (selector) => [...document.querySelectorAll(selector)];
    return {
      nodes: all(".tree .node").map((n) => [n.dataset.node, n.getAttribute("aria-label").split(" ")[0]]),
      edges: all(".tree .edge").map((e) => [e.dataset.from, e.dataset.to]),
    };
  });
  const label = new Map(nodes);
  return { labels: nodes.map(([, name]) => name), edges: edges.map(([a, b]) => `${label.get(a)} -> ${label.get(b)}`) };
}

async function treesAreThoseOfTheModels(page, { width }) {
  const names = Object.keys(expected.features);
  for (const [gene, trees] of Object.entries(expected.trees)) {
    await findRow(page, gene);
    assert.equal(await page.locator(".scores tbody tr").count(), 3);
    for (const [method, tree] of Object.entries(trees)) {
      await control(page, "Method").selectOption({ label: method });
      await page.getByRole("button", { name: "Open all" }).click();
      const { labels, edges } = await drawnTree(page);
      assert.equal(labels.length, tree.nodes);
      assert.deepEqual(edges.sort(), tree.edges);
      assert.ok(labels.every((name) => names.includes(name)));
      assert.deepEqual(await overlaps(page), [], "names that lie on a node or on another name");
    }
  }
  await fitsTheWidth(page, width);
}

// Pairs of a name and another name, or a node, that share a place on the screen.
const overlaps = (page) =>
  page.evaluate(() => {
    const meet = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
    return [...document.querySelectorAll(".tree")].flatMap((tree) => {
      const boxes = (selector) =>
        [...tree.querySelectorAll(selector)].map((e) => [e.textContent || "node", e.getBoundingClientRect()]);
      const names = boxes(".stage text");
      if (names.length < 2) throw new Error("no names were drawn");
      const all = [...names, ...boxes(".stage circle")];
      return names.flatMap(([name, a], i) =>
        all.filter(([, b], j) => j !== i && meet(a, b)).map(([other]) => `${name} / ${other}`),
      );
    });
  });

async function treesAreExplored(page, { width }) {
  await findRow(page, Object.keys(expected.trees)[0]);
  await control(page, "Method").selectOption({ label: "TAN" });
  await control(page, "Compare with").selectOption({ label: "Hie-TAN-Lite" });
  assert.equal(await page.locator(".panel").count(), 2);
  await drawn(page);
  const panel = page.locator(".panel").first();
  const focused = () => page.evaluate(() => document.activeElement.dataset.node);
  const lines = () => panel.locator(".node").count();
  await panel.getByRole("button", { name: "Close all" }).click();
  assert.equal(await lines(), 1);
  await panel.locator(".node[tabindex='0']").focus();
  assert.match(await panel.locator(".tip").textContent(), /contribution.*probability of this value/);
  const start = await focused();
  await page.keyboard.press("ArrowRight");
  assert.ok((await lines()) > 1, "the branch is open");
  assert.equal(await focused(), start);
  await page.keyboard.press("ArrowRight");
  assert.notEqual(await focused(), start);
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("ArrowLeft");
  assert.equal(await focused(), start);
  await page.keyboard.press("ArrowLeft");
  assert.equal(await lines(), 1);
  await page.keyboard.press("Enter");
  assert.match(await panel.locator(".neighbours").textContent(), /In the ontology.*directly above.*directly below/);
  await panel.getByRole("button", { name: "Open all" }).click();
  const features = await page.evaluate(
    () => document.querySelectorAll(".panel .tree")[0].querySelectorAll(".node").length,
  );
  assert.ok(features > 5);
  assert.deepEqual(await overlaps(page), []);
  await panel.getByRole("button", { name: "Strongest paths" }).click();
  const learned = page.locator(".learned").first();
  await learned.locator("summary").click();
  assert.match(await learned.locator(".trace tbody tr").first().textContent(), /^1.* – .*(taken|refused)/);
  assert.match(await learned.textContent(), /Directions of the edges of the tree: \d+ /);
  const removed = page.locator(".removed").first();
  await removed.locator("summary").click();
  const reason = /which is [01]: same value as its (ancestor|descendant) /;
  assert.match(await removed.locator("li").first().textContent(), reason);
  const fall = page.locator(".fall").first();
  assert.match(await fall.textContent(), /given .* = [01]: \d+ of \d+ .*; \d+ of \d+ /);
  assert.match(await page.locator(".flip").first().textContent(), /single changes? tried/);
  assert.ok((await page.locator(".similar tbody tr").count()) > 0);
  await fitsTheWidth(page, width);
  await picture(page, `rows-${width}`);
}

async function namesAreText(page, { width }) {
  for (const name of PARTS) {
    await goToPart(page, name);
    await openDetails(page);
    await noMarkupFromNames(page);
    await fitsTheWidth(page, width);
    await picture(page, `nasty-${name.toLowerCase()}-${width}`);
  }
  const firstIncludes = (text) => document.querySelector(".rows strong")?.textContent.includes(text);
  for (const name of expected.nasty.filter((n) => !n.startsWith("long"))) {
    const firstLine = name.split("\n")[0];
    await control(page, "Search rows").fill(firstLine);
    await page.waitForFunction(firstIncludes, firstLine.trim());
    await page.locator(".rows button").first().click();
    assert.ok((await page.locator("#row h2").first().textContent()).includes(firstLine.trim()));
  }
  assert.match(await page.locator("body").textContent(), /<script>alert\(1\)<\/script>/);
}

async function namesOfCandidatesAreText(page, { width }) {
  await page.locator(".removed summary").first().click();
  await drawn(page);
  await page.evaluate(() => {
    const openAll = [...document.querySelectorAll("button")].find((b) => b.textContent === "Open all");
    openAll.click();
    for (const { dataset } of document.querySelectorAll(".node")) {
      document.querySelector(`.node[data-node="${dataset.node}"]`).dispatchEvent(new MouseEvent("click"));
      openAll.click();
    }
  });
  await page.locator(".node").first().focus();
  await noMarkupFromNames(page);
  const caution = /^Note: .*separates <b>anti<\/b> from <\/script>pro, the classes/;
  assert.match(await page.locator(".caution").textContent(), caution);
  await fitsTheWidth(page, width);
  await picture(page, `nasty-candidates-${width}`);
}

async function allPartsAreAccessible(page, { width, colorScheme }) {
  for (const name of PARTS) {
    await goToPart(page, name);
    await openDetails(page);
    if (name === "Rows") await control(page, "Compare with").selectOption({ label: "HIP" });
    await drawn(page);
    await noViolations(page);
    await picture(
      page,
      `${path.basename(page.url().split("#")[0], ".html")}-${name.toLowerCase()}-${width}-${colorScheme}`,
    );
  }
}

for (const width of [1400, 900, 420]) {
  const look = (title, file, check, more = {}) => test(title, () => visit(file, { width, ...more }, check));
  describe(`at ${width} pixels`, () => {
    look("the overview shows the scores, and the switch changes them", "study.html", overviewShowsTheScores);
    look("features are sorted and searched, and methods switched", "study.html", featuresAreSortedAndSearched);
    look("a gene is found, and its trees are those of the models", "study.html", treesAreThoseOfTheModels);
    look("two methods side by side; hover, click, keys, zoom; removed terms", "study.html", treesAreExplored);
    look("a study of one dataset shows how good the methods are", "one.html", oneDatasetIsJudged);
    look("the terms that matter are listed and drawn", "one.html", termsThatMatterAreShown);
    look("names are text everywhere", "nasty.html", namesAreText);
    look("names of candidates are text", "nasty-candidates.html", namesOfCandidatesAreText);
    for (const colorScheme of ["light", "dark"]) {
      look(`no violation of A or AA, ${colorScheme}`, "study.html", allPartsAreAccessible, { colorScheme });
      look(`none with one dataset, ${colorScheme}`, "one.html", allPartsAreAccessible, { colorScheme });
    }
  });
}

test("a gene that is not explained shows the command that explains it", () =>
  visit("study.html", {}, async (page) => {
    await goToPart(page, "Rows");
    const gene = await page.evaluate(() => {
      const data = JSON.parse(document.getElementById("data").textContent).datasets[0];
      const explained = new Set(data.explained.map((e) => e.row));
      return data.genes.findLast((_, i) => !explained.has(i));
    });
    await findRow(page, gene);
    assert.equal(await page.locator(".command").textContent(), `hietan study ... --rows ${gene}`);
  }));

test("an explained gene says in plain words why it was chosen", () =>
  visit("study.html", {}, async (page) => {
    await goToPart(page, "Rows");
    const why = /true class .*; most confident, (correct|wrong)\.$/;
    assert.match(await page.locator("#row .card p").first().textContent(), why);
  }));

test("tabs by keyboard, and all parts on paper", () =>
  visit("study.html", {}, async (page) => {
    await page.getByRole("tab", { name: "Overview" }).focus();
    await page.keyboard.press("ArrowRight");
    assert.equal(await page.locator("[role=tab][aria-selected=true]").textContent(), "Features");
    await page.pdf({ path: path.join(out, "study.pdf") });
    await page.emulateMedia({ media: "print" });
    for (const id of ["overview", "features", "rows"]) assert.ok(await page.locator("#" + id).isVisible());
  }));

async function oneDatasetIsJudged(page, { width }) {
  assert.equal(await page.locator(".quality tbody tr").count(), 3);
  assert.equal(await page.locator(".confusion").count(), 2);
  await drawn(page);
  assert.equal(await page.locator("svg[aria-label^='ROC curve']").count(), 1);
  assert.equal(await page.locator("svg[aria-label^='Precision and recall']").count(), 1);
  assert.equal(await page.getByText("Critical difference").count(), 0);
  assert.equal(await page.getByText("average rank").count(), 0);
  for (const method of ["HIP", "TAN"]) {
    await page.getByRole("link", { name: method, exact: true }).first().click();
    assert.match(page.url(), new RegExp("#method/" + method));
    await page.getByRole("heading", { name: `Confusion of ${method}`, exact: true }).waitFor({ timeout: 5000 });
  }
  const names = () => page.locator(".quality tbody th").allTextContents();
  await page.getByRole("button", { name: "method" }).first().click();
  const byName = (await names()).slice().sort((a, b) => a.localeCompare(b));
  assert.deepEqual(await names(), byName);
  await fitsTheWidth(page, width);
  await picture(page, `one-${width}`);
}

async function termsThatMatterAreShown(page, { width }) {
  await goToPart(page, "Features");
  await drawn(page);
  const table = page.locator(".effects-table");
  const effects = await table.locator("tbody td:nth-child(2)").allTextContents();
  const sorted = effects.map(Number).sort((a, b) => b - a);
  assert.deepEqual(effects.map(Number), sorted);
  assert.ok((await page.locator(".swarm circle").count()) > 20);
  await control(page, "group by branch").check();
  assert.ok((await page.locator(".branch").count()) > 1);
  await control(page, "group by branch").uncheck();
  const [feature] = Object.keys(expected.features);
  await page.evaluate((name) => (location.hash = "#term/" + name), feature);
  await page.getByText(/^[01] terms? of the/).waitFor();
  await fitsTheWidth(page, width);
}

async function savedFile(page, name) {
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name, exact: true }).first().click(),
  ]);
  return readFileSync(await download.path(), "utf8");
}

test("tables and pictures are saved", () =>
  visit("one.html", {}, async (page) => {
    await drawn(page);
    const csv = await savedFile(page, "Save as CSV: scores synthetic-0");
    assert.match(csv, /^method,GMean,sensitivity,specificity,AUC,average precision\r\n/);
    assert.equal(csv.trim().split("\r\n").length, 4);
    const picture = await savedFile(page, "Save as SVG: ROC curve synthetic-0");
    assert.ok(picture.startsWith("<svg ") && picture.includes('xmlns="http://www.w3.org/2000/svg"'));
    assert.ok(picture.includes('stroke="rgb(') && !picture.includes("var("), "the colours are written into the file");
  }));

test("a row has an address, and Enter opens what is searched for", () =>
  visit("one.html", {}, async (page) => {
    const row = Object.keys(expected.trees)[1];
    await page.evaluate(() => (location.hash = "#genes")); // in links to reports of earlier versions
    await page.locator("#tab-rows[aria-selected=true]").waitFor();
    await page.evaluate((name) => (location.hash = "#row/" + name), row);
    await page.getByRole("heading", { name: `Row ${row}`, exact: true }).waitFor();
    await control(page, "Search rows").fill("row17");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Row row17", exact: true }).waitFor();
    assert.match(page.url(), /#row\/row17$/);
    await page.goBack();
    await page.getByRole("heading", { name: `Row ${row}`, exact: true }).waitFor();
    await page.evaluate(() => (location.hash = "#row/%E0%A4%A"));
    await page.evaluate(() => (location.hash = "#row/nobody"));
  }));

test("a report of an earlier version still opens", () =>
  visit("old.html", { width: 420 }, async (page) => {
    for (const name of PARTS) {
      await goToPart(page, name);
      await drawn(page);
      await fitsTheWidth(page, 420);
    }
    assert.ok((await page.locator(".node").count()) > 0);
  }));

// The page stays quick because it draws what is looked at, not all there is: elements are counted, not milliseconds.
test("20,000 candidates are a usable page", () =>
  visit("candidates.html", {}, async (page) => {
    const made = () => page.evaluate(() => window.elementsMade);
    const list = page.locator(".rows button");
    const atFirst = await made();
    assert.equal(await list.count(), 40);
    await control(page, "Search genes").fill("gene19999");
    await page.getByText("1 gene", { exact: true }).waitFor();
    const bySearch = (await made()) - atFirst;
    console.log(`# ${expected.candidates} candidates: ${atFirst} elements at first, ${bySearch} by a search`);
    assert.ok(atFirst < 2000, `the page made ${atFirst} elements before it could be used`);
    assert.ok(bySearch < 100, `a search made ${bySearch} elements`);
    assert.equal(await list.count(), 1);
    await list.first().click();
    await page.getByRole("heading", { name: "Gene gene19999 sym-19999", exact: true }).waitFor();
    await control(page, "Search genes").fill("SYM-777");
    await page.getByText("6 genes", { exact: true }).waitFor(); // itself, 7771, 7773, 7775, 7777 and 7779
    assert.match(await list.first().textContent(), /gene777\d? sym-777/);
    await control(page, "Search genes").fill("");
    await page.getByText("19,995 genes", { exact: true }).waitFor(); // the model was trained on the other five
    const caution =
      /separates anti from pro, the classes it was trained on.* does not say that a gene belongs to one\.$/;
    assert.match(await page.locator(".caution").textContent(), caution);
    await list.first().click();
    assert.ok((await page.locator(".tree .node").count()) > 1);
    await noViolations(page);
    await picture(page, "candidates-1280");
  }));

for (const width of [1280, 400]) {
  test(`candidates: their quality, both ends, and the known ones apart, at ${width} pixels`, () =>
    visit("candidates.html", { width }, async (page) => {
      const first = page.locator(".rows button").first();
      const facts = await page.locator(".quality .facts").textContent();
      assert.match(facts, /AUC \(0\.5 by chance\)0\.\d{3}average precision/);
      assert.match(await page.locator(".quality").textContent(), /in 5 folds: each of 200 genes \(100 anti, 100 pro\)/);
      const heads = await page.locator(".scores th[scope=col]").allTextContents();
      assert.deepEqual(heads, ["method", "predicted", "calibrated P(pro)", "log-odds", "raw P(pro)"]);
      const calibrated = await page.locator(".scores tbody td strong").textContent();
      assert.ok((await first.textContent()).includes(calibrated) && /score \+\d/.test(await first.textContent()));
      assert.match(await page.locator("#row").textContent(), new RegExp(`Calibrated P\\(pro\\) = ${calibrated}`));
      const behind = await page.locator(".behind").first().textContent();
      assert.match(behind, /^training genes with(out)? it: anti \d+ of 100, pro \d+ of 100$/);
      await openDetails(page);
      await fitsTheWidth(page, width);
      await picture(page, `quality-${width}`);
      await page.getByRole("button", { name: "most likely anti" }).click();
      assert.match(await first.textContent(), /^19,?995.*score −\d.*−\d/);
      await first.click();
      assert.match(await page.locator("#row").textContent(), /Rank 19,995 of 19,995\./);
      assert.ok((await page.locator(".behind").count()) > 0);
      await page.getByRole("button", { name: "in the training data (5)" }).click();
      await page.getByText("5 genes", { exact: true }).waitFor();
      await first.click();
      assert.match(await page.locator("#row").textContent(), /The training data call it gene\d \((anti|pro)\)\./);
      await noViolations(page);
      await picture(page, `known-${width}`);
    }));
}
