// Features: which terms matter, one term, where terms are in the hierarchy, and how often they are used.
import assert from "node:assert/strict";
import { drawn } from "./browser.js";
import {
  atEveryWidth,
  control,
  expected,
  fitsTheWidth,
  goToPart,
  noViolations,
  overlaps,
  picture,
  savedFile,
} from "./visiting.js";

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
  await drawn(page);
  assert.deepEqual(await overlaps(page, ".hierarchy"), []);
  await control(page, "Search these terms").fill("T:0000012");
  await page.keyboard.press("Enter");
  assert.match(page.url(), /#term\/T%3A0000012$/);
  await fitsTheWidth(page, width);
}

async function aTermHasAPage(page, { width }) {
  const { term, terms, edges } = expected.drawing;
  await page.evaluate((name) => (location.hash = "#term/" + name), term);
  await page.getByRole("heading", { name: `Term ${term}`, exact: true }).waitFor();
  await drawn(page);
  const models = await page.locator(".in-models tbody th").allTextContents();
  assert.deepEqual(models.sort(), ["HIP", "Hie-TAN-Lite", "TAN"]);
  assert.match(await page.locator(".shown-here").textContent(), /\d+ of \d+ .*%\); \d+ of \d+ .*%\) have it\./);
  const drawing = page.locator(".shown-here .hierarchy");
  const links = await drawing.locator("a").evaluateAll((all) => all.map((a) => a.getAttribute("href")));
  assert.deepEqual(links.map((link) => decodeURIComponent(link.replace("#term/", ""))).sort(), terms);
  const paths = await drawing.locator(".edge").evaluateAll((all) => all.map((e) => [e.dataset.from, e.dataset.to]));
  assert.deepEqual(paths.map(([from, to]) => `${from} -> ${to}`).sort(), edges);
  assert.match(await savedFile(page, `Save as SVG: term ${term}`), /^<svg .*<circle .*<text /s);
  assert.deepEqual(await overlaps(page, ".shown-here .hierarchy"), []);
  await fitsTheWidth(page, width);
  await noViolations(page);
  await picture(page, `term-${width}`);
  const above = page.locator(".shown-here .hierarchy a").first();
  const name = await above.locator("text").first().textContent();
  await above.click();
  await page.getByRole("heading", { name: `Term ${name}`, exact: true }).waitFor();
  await page.getByRole("button", { name: "Close", exact: true }).click();
  assert.equal(await page.getByRole("heading", { name: /^Term / }).count(), 0);
}

atEveryWidth("features are sorted and searched, and methods switched", "study.html", featuresAreSortedAndSearched);
atEveryWidth("the terms that matter are listed and drawn", "one.html", termsThatMatterAreShown);
atEveryWidth("a term has a page of its own", "one.html", aTermHasAPage, ["light", "dark"]);
