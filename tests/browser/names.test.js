// Names from files are text, whatever they look like.
import assert from "node:assert/strict";
import { drawn } from "./browser.js";
import {
  PARTS,
  atEveryWidth,
  control,
  expected,
  fitsTheWidth,
  goToPart,
  noMarkupFromNames,
  openDetails,
  picture,
} from "./visiting.js";

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
  const caution = /^Note: .*separates <b>anti<\/b> from <\/script>pro; rows that are neither/;
  assert.match(await page.locator(".caution").textContent(), caution);
  await fitsTheWidth(page, width);
  await picture(page, `nasty-candidates-${width}`);
}

atEveryWidth("names are text everywhere", "nasty.html", namesAreText);
atEveryWidth("names of candidates are text", "nasty-candidates.html", namesOfCandidatesAreText);
