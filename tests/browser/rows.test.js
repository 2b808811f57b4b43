// Rows of a study: their trees, sums, neighbours, and what would change the answer.
import { test } from "node:test";
import assert from "node:assert/strict";
import { drawn } from "./browser.js";
import {
  atEveryWidth,
  control,
  expected,
  findRow,
  fitsTheWidth,
  goToPart,
  openDetails,
  overlaps,
  picture,
  savedFile,
  visit,
} from "./visiting.js";

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
  const removed = page.locator(".removed").first();
  await removed.locator("summary").click();
  const reason = /which is [01]: same value as its (ancestor|descendant) /;
  assert.match(await removed.locator("li").first().textContent(), reason);
  const fall = page.locator(".fall").first();
  assert.match(await fall.textContent(), /of \d+ rows with(out)? T:\d+: class0 \d+ of \d+, class1 \d+ of \d+/);
  assert.ok((await page.locator(".similar tbody tr").count()) > 0);
  const sums = await savedFile(page, "Save as CSV: contributions TAN");
  assert.match(sums, /^term,name,value,adds,given,value of the given term,.*: rows with this value,/);
  assert.ok(sums.trim().split("\r\n").length > 5);
  await fitsTheWidth(page, width);
  await picture(page, `rows-${width}`);
}

atEveryWidth("a gene is found, and its trees are those of the models", "study.html", treesAreThoseOfTheModels);
atEveryWidth("two methods side by side; keys, removed terms, sums and neighbours", "study.html", treesAreExplored);

test("branches add up to the log-odds and open into their features", () =>
  visit("study.html", {}, async (page) => {
    await goToPart(page, "Rows");
    await findRow(page, Object.keys(expected.trees)[0]);
    await control(page, "Method").selectOption({ label: "TAN" });
    const fall = page.locator(".fall").first();
    const numbers = await fall.locator("tbody tr td:nth-child(3)").allTextContents();
    const adds = numbers.map((text) => Number(text.replace("−", "-")));
    const total = adds.pop();
    assert.ok(Math.abs(adds.reduce((sum, add) => sum + add, 0) - total) < 0.001 * adds.length, numbers.join(" "));
    const branch = fall.locator(".summed").first();
    const [, number] = (await branch.locator("summary").textContent()).match(/: (\d+) features?$/);
    await branch.locator("summary").click();
    const lines = await branch.locator("li").allTextContents();
    assert.ok(lines.length >= 1 && lines.length <= Number(number) + 1);
    assert.match(lines[0], /= [01]: [+−]\d\.\d{3}.*of \d+ rows.*: class0 \d+ of \d+, class1 \d+ of \d+/);
    assert.deepEqual(await overlaps(page), []);
    await picture(page, "branches");
  }));

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

test("a method without a tree has no heading for one", () =>
  visit("study.html", {}, async (page) => {
    await goToPart(page, "Rows");
    const headings = () => page.locator(".panel h4").allTextContents();
    await control(page, "Method").selectOption({ label: "TAN" });
    assert.ok((await headings()).includes("The learned tree"));
    await control(page, "Method").selectOption({ label: "HIP" });
    assert.equal((await headings())[0], "How the log-odds add up");
  }));

test("an explained gene says in plain words why it was chosen", () =>
  visit("study.html", {}, async (page) => {
    await goToPart(page, "Rows");
    const why = /true class .*; (drawn at random|requested)\.$/;
    assert.match(await page.locator("#row .card p").first().textContent(), why);
  }));

test("rows are filtered by where the methods agree, and saved with what each of them says", () =>
  visit("one.html", {}, async (page) => {
    await goToPart(page, "Rows");
    const counted = await page.evaluate(() => {
      const [data] = JSON.parse(document.getElementById("data").textContent).datasets;
      const right = data.truth.map(
        (t, i) => Object.values(data.predictions).filter((p) => p.predicted[i] === t).length,
      );
      return [right.filter((n) => n === 3).length, right.filter((n) => n === 0).length, right.length];
    });
    const [all, none, rows] = counted;
    const found = { "all right": all, "all wrong": none, disagree: rows - all - none };
    await openDetails(page);
    for (const [agreement, n] of Object.entries(found)) {
      await control(page, "Agreement").selectOption(agreement);
      await page.getByText(`${n} rows`, { exact: true }).waitFor({ timeout: 5000 });
      const lines = (await savedFile(page, "Save as CSV: rows")).trim().split("\r\n");
      assert.equal(lines.length, n + 1);
      assert.match(lines[0], /^dataset,row,symbol,true class,predicted by TAN,log-odds by TAN,probability by TAN,/);
    }
  }));

test("the first row of the list is the one that is shown, and most methods get it right", () =>
  visit("one.html", {}, async (page) => {
    await goToPart(page, "Rows");
    const first = page.locator(".rows button").first();
    assert.equal(await first.getAttribute("aria-current"), "true");
    assert.match(await first.textContent(), /correct: 3 of 3 methods/);
    const name = await first.locator("bdi").first().textContent();
    assert.equal(await page.locator("#row h2").first().textContent(), `Row ${name}`);
  }));
