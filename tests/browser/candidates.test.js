// The page of ranked candidates.
import { test } from "node:test";
import assert from "node:assert/strict";
import {
  atEveryWidth,
  control,
  expected,
  fitsTheWidth,
  noViolations,
  openDetails,
  picture,
  visit,
} from "./visiting.js";

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
    const caution = /separates anti from pro; a gene that is neither gets a rank as well\. P\(pro\) is calibrated/;
    assert.match(await page.locator(".caution").textContent(), caution);
    await list.first().click();
    assert.ok((await page.locator(".tree .node").count()) > 1);
    await noViolations(page);
    await picture(page, "candidates-1280");
  }));

// The slider shows what `Candidates.select` returns at every rate, and each row its p-value.
async function listsAreThoseOfPython(page) {
  const { lines, p_values: pValues, note } = expected.lists;
  const slider = page.getByLabel("False discovery rate");
  const line = page.locator("strong[role=status]");
  assert.equal(await slider.inputValue(), "19"); // 20%
  assert.ok((await page.locator(".card").first().textContent()).includes(note));
  for (const [i, text] of lines.entries()) {
    await slider.fill(String(i));
    assert.equal(await line.textContent(), `${text[0].toUpperCase()}${text.slice(1)}.`);
  }
  await slider.fill("19");
  const shown = await page.locator(".rows button .sub").allTextContents();
  assert.deepEqual(
    shown.map((text) => /; p = ([^;]*)/.exec(text)[1]),
    pValues.slice(0, shown.length),
  );
}

async function candidatesAreJudgedAndBothEndsShown(page, { width }) {
  const first = page.locator(".rows button").first();
  const facts = await page.locator(".quality .facts").first().textContent();
  assert.match(facts, /AUC \(0\.5 by chance\)0\.\d{3}average precision/);
  assert.match(
    await page.locator(".quality").first().textContent(),
    /in 5 folds: each of 200 genes \(100 anti, 100 pro\)/,
  );
  const heads = await page.locator(".scores th[scope=col]").allTextContents();
  assert.deepEqual(heads, ["method", "predicted", "calibrated P(pro)", "p-value", "log-odds"]);
  await listsAreThoseOfPython(page);
  const calibrated = await page.locator(".scores tbody td strong").first().textContent();
  assert.equal(await page.locator(".scores tbody tr").count(), 2);
  assert.ok((await first.textContent()).includes(calibrated) && /score \+\d/.test(await first.textContent()));
  assert.match(await page.locator("#row").textContent(), new RegExp(`Calibrated P\\(pro\\) = ${calibrated}`));
  const behind = await page.locator(".behind").first().textContent();
  assert.match(behind, /^of \d+ genes( with(out)? .+)?: anti \d+ of \d+, pro \d+ of \d+( \*)?$/);
  await openDetails(page);
  await fitsTheWidth(page, width);
  await picture(page, `quality-${width}`);
  assert.match(await page.locator(".flip").first().textContent(), /\d+ single changes? tried/);
  const { disagree, both_pro: bothPro, well_described: described } = expected.agreement;
  for (const [field, value, n] of [
    ["Agreement", "disagree", disagree],
    ["Agreement", "all say 1", bothPro],
    ["Annotated with", "10", null],
  ]) {
    await control(page, field).selectOption(value);
    if (n !== null) await page.getByText(`${n.toLocaleString("en")} genes`, { exact: true }).waitFor();
  }
  await control(page, "Agreement").selectOption("");
  await page.getByText(`${described.toLocaleString("en")} genes`, { exact: true }).waitFor();
  await control(page, "Annotated with").selectOption("0");
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
}

atEveryWidth(
  "candidates: their quality, both ends, and the known ones apart",
  "candidates.html",
  candidatesAreJudgedAndBothEndsShown,
);
