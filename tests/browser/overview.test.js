// The overview: the ranking of several datasets, and how good the methods are on one.
import assert from "node:assert/strict";
import path from "node:path";
import { drawn, out } from "./browser.js";
import { atEveryWidth, control, expected, fitsTheWidth, noViolations, picture, savedFile } from "./visiting.js";

async function overviewShowsTheScores(page, { width }) {
  const cells = () => page.locator(".heat tbody td").allTextContents();
  assert.deepEqual((await cells()).sort(), expected.auc.slice().sort());
  const gmean = page.locator("#ranking .switch").getByRole("button", { name: "GMean" });
  await gmean.click();
  assert.deepEqual((await cells()).sort(), expected.gmean.slice().sort());
  assert.equal(await gmean.getAttribute("aria-pressed"), "true");
  await drawn(page);
  assert.equal(await page.locator("svg[aria-label^='Average ranks']").count(), 1);
  assert.equal(await page.locator(".ranking tbody tr").count(), 3);
  assert.equal(await page.locator(".effects tbody tr").count(), 2);
  await fitsTheWidth(page, width);
  await picture(page, `overview-${width}`);
}

// The answer is the first thing on the page, and the title names the data.
const theAnswerIsFirst =
  (name, title) =>
  async (page, { width }) => {
    assert.equal(await page.title(), title);
    assert.equal(await page.getByRole("heading", { level: 1 }).textContent(), title);
    const first = page.locator("#overview .card").first();
    assert.equal(await first.locator(".verdict").textContent(), expected.verdicts[name]);
    await fitsTheWidth(page, width);
    await noViolations(page);
  };

// All curves but the chosen one are faded; calibration shows the chosen method alone.
async function oneCurveStandsOut(page) {
  await drawn(page);
  for (const method of ["HIP", "TAN"]) {
    await control(page, "Method in detail").selectOption({ label: method });
    await drawn(page);
    const opacities = await page
      .locator("svg[aria-label^='ROC curve'] path[stroke]")
      .evaluateAll((paths) => paths.map((path) => path.getAttribute("stroke-opacity") ?? "1"));
    assert.deepEqual(opacities, ["0.22", "0.22", "1"]);
    assert.equal(await page.locator("svg[aria-label^='Reliability curves'] path[stroke]").count(), 1);
  }
}

async function incompleteRowsAreShown(page, { width }) {
  const panel = page.locator("#incomplete");
  await control(page, "Metric for incomplete rows").selectOption({ label: "AUC" });
  await drawn(page);
  const cells = await panel.locator("tbody td").allTextContents();
  assert.deepEqual(cells.sort(), expected.incomplete.flat().sort());
  assert.equal(await panel.locator("svg[aria-label^='AUC by share'] circle").count(), cells.length);
  assert.match(await savedFile(page, "Save as CSV: AUC of incomplete rows"), /^method,0 lost,0.3 lost,0.7 lost/);
  await fitsTheWidth(page, width);
  await panel.screenshot({ path: path.join(out, `incomplete-${width}.png`) });
}

async function equalRowsAreCounted(page) {
  await page.getByText("are identical to another row: ").first().waitFor();
  assert.match(await page.locator(".caution").textContent(), /pairs of equal rows have different classes/);
  const facts = await page.locator(".facts").allTextContents();
  assert.match(facts.join(" "), /identical rowsin the same fold/);
}

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

atEveryWidth("the overview shows the scores, and the switch changes them", "study.html", overviewShowsTheScores);
atEveryWidth("scores of incomplete rows are drawn and listed", "study.html", incompleteRowsAreShown, ["light", "dark"]);
atEveryWidth("equal rows of a dataset are counted", "equal.html", equalRowsAreCounted);
atEveryWidth("a study of one dataset shows how good the methods are", "one.html", oneDatasetIsJudged);
atEveryWidth("the chosen curve stands out", "one.html", oneCurveStandsOut);
for (const [name, title] of [
  ["study", "synthetic-0, synthetic-1 and synthetic-2: 3 methods compared"],
  ["one", "synthetic-0: 3 methods compared"],
  ["three", "synthetic-0: 2 methods compared"],
]) {
  atEveryWidth(`the answer of ${name} comes first`, `${name}.html`, theAnswerIsFirst(name, title));
}
