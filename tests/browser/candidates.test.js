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
    const caution = /separates anti from pro; genes that are neither are also ranked\. P\(pro\) is calibrated/;
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
  const shown = await page.locator(".rows button > :nth-child(3)").allTextContents();
  assert.deepEqual(
    shown.map((text) => /; p = ([^;]*)/.exec(text)[1]),
    pValues.slice(0, shown.length),
  );
}

async function theAnswerComesFirst(page, { width }) {
  const { height } = page.viewportSize();
  assert.equal(await page.title(), "Genes of genome, ranked for pro");
  assert.equal(await page.getByRole("heading", { level: 1 }).textContent(), "Genes of genome, ranked for pro");
  const answer = await page.locator(".card").first().textContent();
  assert.match(answer, /HieTANLite separates pro from anti with AUC 0\.\d{3} on genes that it had not seen/);
  const { branches } = expected;
  const common = page.locator(".common");
  await common.locator("summary").click();
  const names = await common.locator("tbody th").allTextContents();
  assert.deepEqual(names, ["base value", ...branches.names, "the rest", "log-odds"]);
  const means = await common.locator("tbody td:nth-child(2)").allTextContents();
  assert.deepEqual(means, branches.means);
  await fitsTheWidth(page, width);
  await picture(page, `answer-${width}`);
  await common.locator("summary").click();
  // The chosen gene begins a few screens down at most, not after the whole list: the list scrolls in its own box.
  const list = await page.locator(".list-box").boundingBox();
  const gene = await page.locator("#row").boundingBox();
  assert.ok(list.height < height && (width > 960 || gene.y >= list.y + list.height));
  assert.ok(gene.y < 2 * height, `the gene begins ${gene.y} pixels down`);
}

// At every rate, the marked rows are those that Python selects, first in the ranking or not.
async function theListIsMarkedAtEveryRate(page) {
  const slider = page.getByLabel("False discovery rate");
  for (const [k, names] of expected.short_list.entries()) {
    await slider.fill(String(k));
    const marked = page.locator(".rows button", { hasText: `in the list at ${k + 1}%` });
    const ranks = await marked.locator(".rank").allTextContents();
    assert.deepEqual(ranks, names, `at ${k + 1}%`);
  }
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
  assert.ok((await first.textContent()).includes(calibrated) && /log-odds \+\d/.test(await first.textContent()));
  assert.match(await page.locator("#row").textContent(), new RegExp(`Calibrated P\\(pro\\) = ${calibrated}`));
  const behind = await page.locator(".behind").first().textContent();
  assert.match(behind, /^of \d+ genes( with(out)? .+)?: anti \d+ of \d+, pro \d+ of \d+( \*)?$/);
  await openDetails(page);
  await fitsTheWidth(page, width);
  await picture(page, `quality-${width}`);
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
  assert.match(await first.textContent(), /^19,?995.*log-odds −\d.*−\d/);
  await first.click();
  assert.match(await page.locator("#row").textContent(), /Rank 19,995 of 19,995\./);
  assert.ok((await page.locator(".behind").count()) > 0);
  await page.getByRole("button", { name: "in the training data (5)" }).click();
  await page.getByText("5 genes", { exact: true }).waitFor();
  await first.click();
  assert.match(await page.locator("#row").textContent(), /Its name in the training data is gene\d \((anti|pro)\)\./);
  await noViolations(page);
  await picture(page, `known-${width}`);
}

atEveryWidth("candidates: the answer, the title and the gene come first", "candidates.html", theAnswerComesFirst);
test("the list shows where the false discovery rate ends", () =>
  visit("short-list.html", {}, theListIsMarkedAtEveryRate));
atEveryWidth(
  "candidates: their quality, both ends, and the known ones apart",
  "candidates.html",
  candidatesAreJudgedAndBothEndsShown,
);

// Positives and unlabelled rows: lifts and no classes; the study bias comes first.
async function liftsAreThoseOfPython(page, { width }) {
  const { bound, lifts, names, log_odds: odds } = expected.unlabelled;
  const card = page.locator(".card").first();
  assert.ok(bound.length > 160, "the bound is too short to be cut"); // names are cut there, sentences are not
  assert.ok((await card.locator(".note").allTextContents()).includes(bound));
  assert.match(await card.locator("details").first().textContent(), /^Do well-studied genes/);
  assert.ok(
    await card
      .locator("details")
      .first()
      .evaluate((e) => e.open),
  );
  const shown = await page.locator(".rows button > :nth-child(2)").allTextContents();
  assert.deepEqual(
    shown.slice(0, lifts.length),
    lifts.map((lift) => `lift ${Number(lift.toPrecision(3))}`),
  );
  await page.locator(".rows button").first().click();
  await page.getByRole("heading", { name: `Gene ${names[0]}`, exact: true }).waitFor();
  const text = await page.locator("main").textContent();
  assert.match(text, /final model's log-odds are .*\. The rank comes from a model that did not see this gene/);
  for (const value of odds) assert.ok(text.includes(Math.abs(value).toFixed(3)), `${value} is not shown`);
  assert.ok(!/GMean|average precision|p-value|raw P|calibrated P/i.test(text), "a measure that counts unlabelled rows");
  assert.equal(await page.getByRole("columnheader", { name: "predicted" }).count(), 0);
  await openDetails(page);
  await noViolations(page);
  await fitsTheWidth(page, width);
  await picture(page, `unlabelled-${width}`);
}
atEveryWidth("unlabelled rows have lifts", "unlabelled.html", liftsAreThoseOfPython, ["light"]);

test("with a prior, unlabelled rows have probabilities", () =>
  visit("unlabelled-prior.html", {}, async (page) => {
    const first = await page.locator(".rows button > :nth-child(3)").first().textContent();
    const shown = Number(/; P = ([0-9.]+)/.exec(first)[1]);
    assert.ok(Math.abs(shown - expected.unlabelled.probability) < 0.006, first);
  }));
