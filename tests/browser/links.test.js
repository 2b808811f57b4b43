// What people take with them: addresses and files.
import { test } from "node:test";
import assert from "node:assert/strict";
import { drawn } from "./browser.js";
import { control, expected, savedFile, visit } from "./visiting.js";

test("tables and pictures are saved", () =>
  visit("one.html", {}, async (page) => {
    await drawn(page);
    const csv = await savedFile(page, "Save as CSV: scores synthetic-0");
    assert.match(
      csv,
      /^method,AUC,average precision \(class1\),GMean,sensitivity \(class1\),specificity \(class1\)\r\n/,
    );
    assert.equal(csv.trim().split("\r\n").length, 4);
    const picture = await savedFile(page, "Save as SVG: ROC curve synthetic-0");
    assert.ok(picture.startsWith("<svg ") && picture.includes('xmlns="http://www.w3.org/2000/svg"'));
    assert.ok(picture.includes('stroke="rgb(') && !picture.includes("var("), "the colours are written into the file");
  }));

test("a row has an address, and Enter opens what is searched for", () =>
  visit("one.html", {}, async (page) => {
    const row = Object.keys(expected.trees)[1];
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

test("with several datasets, the address of a row names its dataset, and that of a method leads to its curves", () =>
  visit("study.html", {}, async (page) => {
    const row = Object.keys(expected.trees)[0];
    await page.evaluate((name) => (location.hash = `#row/${name}/synthetic-1`), row);
    await page.getByText("Dataset synthetic-1").waitFor();
    await page.locator(".rows button").nth(1).click();
    assert.match(page.url(), /#row\/[^/]+\/synthetic-\d$/);
    await page.evaluate(() => (location.hash = "#method/HIP"));
    await page.getByRole("heading", { name: "Confusion of HIP", exact: true }).waitFor();
  }));

test("without curves, the address of a method leads to its line in the ranking", () =>
  visit("three.html", {}, async (page) => {
    const link = page.locator("#overview .ranking a").last();
    await page.evaluate((address) => (location.hash = address), await link.getAttribute("href"));
    await page.locator("tr.marked").waitFor();
    assert.ok((await page.locator("tr.marked").textContent()).includes(await link.textContent()));
  }));
