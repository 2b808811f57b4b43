// The overview: the ranking of several datasets, and how good the methods are on one.
import assert from "node:assert/strict";
import { drawn } from "./browser.js";
import { atEveryWidth, expected, fitsTheWidth, picture } from "./visiting.js";

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
atEveryWidth("a study of one dataset shows how good the methods are", "one.html", oneDatasetIsJudged);
