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
before(async () => {
  browser = await launch();
});
after(async () => {
  await browser.close();
});

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
  await page.getByRole("button", { name: "AUC" }).click();
  assert.deepEqual((await cells()).sort(), expected.auc.slice().sort());
  assert.equal(await page.getByRole("button", { name: "AUC" }).getAttribute("aria-pressed"), "true");
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
  assert.equal(await page.locator("th[aria-sort=descending]").textContent(), "Freq. in Edges");
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
      const { labels, edges } = await drawnTree(page);
      assert.equal(labels.length, tree.nodes);
      assert.deepEqual(edges.sort(), tree.edges);
      assert.ok(labels.every((name) => names.includes(name)));
    }
  }
  await fitsTheWidth(page, width);
}

async function dragTree(page, panel) {
  await panel.locator(".stage").scrollIntoViewIfNeeded();
  const box = await panel.locator(".stage").boundingBox();
  await page.mouse.move(box.x + 12, box.y + box.height - 12);
  await page.mouse.down();
  await page.mouse.move(box.x + 60, box.y + box.height - 50, { steps: 4 });
  await page.mouse.up();
}

async function treesAreExplored(page, { width }) {
  await findRow(page, Object.keys(expected.trees)[0]);
  await control(page, "Method").selectOption({ label: "TAN" });
  await control(page, "Compare with").selectOption({ label: "Hie-TAN-Lite" });
  assert.equal(await page.locator(".panel").count(), 2);
  await drawn(page);
  const panel = page.locator(".panel").first();
  const world = panel.locator(".stage svg > g");
  const focused = () => page.evaluate(() => document.activeElement.dataset.node);
  const whole = await world.getAttribute("transform");
  await panel.getByRole("button", { name: "Zoom in" }).click();
  assert.notEqual(await world.getAttribute("transform"), whole);
  await panel.getByRole("button", { name: "Show the whole tree" }).click();
  assert.equal(await world.getAttribute("transform"), whole);
  await panel.locator(".node[tabindex='0']").focus();
  assert.match(await panel.locator(".tip").textContent(), /contribution.*probability of this value/);
  const start = await focused();
  await page.keyboard.press("ArrowRight");
  assert.notEqual(await focused(), start);
  await page.keyboard.press("Enter");
  assert.match(await panel.locator(".neighbours").textContent(), /In the ontology.*directly above.*directly below/);
  await panel.getByRole("button", { name: "Show the whole tree" }).click();
  assert.equal(await world.getAttribute("transform"), whole);
  await dragTree(page, panel);
  assert.notEqual(await world.getAttribute("transform"), whole);
  const learned = page.locator(".learned").first();
  await learned.locator("summary").click();
  assert.match(await learned.locator(".trace tbody tr").first().textContent(), /^1.* – .*(taken|refused)/);
  assert.match(await learned.textContent(), /Directions of the edges of the tree: \d+ /);
  const removed = page.locator(".removed").first();
  await removed.locator("summary").click();
  const reason = /which is [01]: same value as its (ancestor|descendant) /;
  assert.match(await removed.locator("li").first().textContent(), reason);
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
  for (const node of await page.locator(".node").all()) await node.dispatchEvent("click");
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
    await picture(page, `${name.toLowerCase()}-${width}-${colorScheme}`);
  }
}

for (const width of [1280, 400]) {
  const look = (title, file, check, more = {}) => test(title, () => visit(file, { width, ...more }, check));
  describe(`at ${width} pixels`, () => {
    look("the overview shows the scores, and the switch changes them", "study.html", overviewShowsTheScores);
    look("features are sorted and searched, and methods switched", "study.html", featuresAreSortedAndSearched);
    look("a gene is found, and its trees are those of the models", "study.html", treesAreThoseOfTheModels);
    look("two methods side by side; hover, click, keys, zoom; removed terms", "study.html", treesAreExplored);
    look("names are text everywhere", "nasty.html", namesAreText);
    look("names of candidates are text", "nasty-candidates.html", namesOfCandidatesAreText);
    for (const colorScheme of ["light", "dark"]) {
      look(`no violation of A or AA, ${colorScheme}`, "study.html", allPartsAreAccessible, { colorScheme });
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
