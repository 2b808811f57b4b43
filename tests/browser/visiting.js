// What all browser tests share: a visit to a page that ends without errors and requests, and what is looked for there.
import { after, before, describe, test } from "node:test";
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { drawn, launch, open, out } from "./browser.js";

const axeSource = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
export const expected = JSON.parse(readFileSync(path.join(out, "expected.json"), "utf8"));
export const PARTS = ["Overview", "Features", "Rows"];
const WIDTHS = [1400, 900, 420];
let browser;

// Each file of tests has a browser of its own.
before(async () => (browser = await launch()));
after(() => browser.close());

export async function visit(file, options, look) {
  const { page, wrong, close } = await open(browser, file, options);
  try {
    await look(page, options);
    assert.deepEqual(wrong, [], "errors on the console, or requests");
  } finally {
    await close();
  }
}

// The same look at a page at every width; `schemes` are light, dark or both.
export function atEveryWidth(title, file, look, schemes = ["light"]) {
  describe(title, () => {
    for (const width of WIDTHS) {
      for (const colorScheme of schemes) {
        test(`at ${width} pixels, ${colorScheme}`, () => visit(file, { width, colorScheme }, look));
      }
    }
  });
}

export const goToPart = (page, name) => page.getByRole("tab", { name }).click();
export const control = (page, label) => page.locator("section.part:not([hidden])").getByLabel(label, { exact: true });

export async function picture(page, name) {
  await drawn(page);
  await page.screenshot({ path: path.join(out, name + ".png"), fullPage: true });
}

export async function openDetails(page) {
  await page.evaluate(() => {
    for (const details of document.querySelectorAll("details")) details.open = true;
  });
  await drawn(page);
}

// Read by the test, not by the page: its policy lets it run nothing but its own script.
export async function noViolations(page) {
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

export async function fitsTheWidth(page, width) {
  assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= width, "the page scrolls sideways");
}

export async function noMarkupFromNames(page) {
  assert.equal(await page.locator("main script, main img, main b:not(.tip b)").count(), 0);
}

export async function findRow(page, gene) {
  await goToPart(page, "Rows");
  await control(page, "Search rows").fill(gene);
  await control(page, "Dataset").selectOption("0");
  const name = page.locator("bdi", { hasText: new RegExp(`^${gene}$`) });
  await page.locator(".rows button").filter({ has: name }).first().click();
  await page.getByRole("heading", { name: `Row ${gene}`, exact: true }).waitFor();
}

// Pairs of a name and another name, or a node, that share a place on the screen.
export const overlaps = (page, drawing = ".tree .stage") =>
  page.evaluate((selector) => {
    const meet = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
    return [...document.querySelectorAll(selector)].flatMap((picture) => {
      const boxes = (what) =>
        [...picture.querySelectorAll(what)].map((e) => [e.textContent || "node", e.getBoundingClientRect()]);
      const names = boxes("text");
      if (names.length < 2) throw new Error("no names were drawn");
      const all = [...names, ...boxes("circle")];
      return names.flatMap(([name, a], i) =>
        all.filter(([, b], j) => j !== i && meet(a, b)).map(([other]) => `${name} / ${other}`),
      );
    });
  }, drawing);

// The text of a file that a button of the page saves.
export async function savedFile(page, name) {
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name, exact: true }).first().click(),
  ]);
  return readFileSync(await download.path(), "utf8");
}
