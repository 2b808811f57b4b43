// Everybody can use the page: no violation that axe finds, and everything by keyboard.
import { test } from "node:test";
import assert from "node:assert/strict";
import path from "node:path";
import { drawn, out } from "./browser.js";
import {
  PARTS,
  atEveryWidth,
  control,
  fitsTheWidth,
  goToPart,
  noViolations,
  openDetails,
  picture,
  visit,
} from "./visiting.js";

async function allPartsAreAccessible(page, { width, colorScheme }) {
  for (const name of PARTS) {
    await goToPart(page, name);
    await openDetails(page);
    if (name === "Rows") await control(page, "Compare with").selectOption({ label: "HIP" });
    await drawn(page);
    await noViolations(page);
    await picture(
      page,
      `${path.basename(page.url().split("#")[0], ".html")}-${name.toLowerCase()}-${width}-${colorScheme}`,
    );
  }
}

const SCHEMES = ["light", "dark"];
atEveryWidth("no violation of A or AA", "study.html", allPartsAreAccessible, SCHEMES);
atEveryWidth("none with one dataset", "one.html", allPartsAreAccessible, SCHEMES);

// Tab until something whose accessible name matches has the focus.
async function tabTo(page, name) {
  for (let k = 0; k < 60; k++) {
    await page.keyboard.press("Tab");
    const focused = await page.evaluate(() => {
      const e = document.activeElement;
      return e.getAttribute("aria-label") ?? e.labels?.[0]?.textContent ?? e.textContent;
    });
    if (name.test(focused)) return;
  }
  assert.fail(`Tab never reached ${name}`);
}

test("a row is found, opened, explored and left by keyboard alone", () =>
  visit("one.html", { width: 900 }, async (page) => {
    await tabTo(page, /^Overview$/);
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowRight");
    await tabTo(page, /^Search rows$/);
    await page.keyboard.type("row1");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Row row1", exact: true }).waitFor();
    assert.match(page.url(), /#row\/row1$/);
    await page.evaluate(() => (location.hash = "#rows"));
    await tabTo(page, /^Search rows$/);
    await page.keyboard.press("Control+a");
    const explained = await page.evaluate(() => {
      const [data] = JSON.parse(document.getElementById("data").textContent).datasets;
      return data.genes[data.explained[0].row];
    });
    await page.keyboard.type(explained);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: `Row ${explained}`, exact: true }).waitFor();
    await drawn(page);
    await tabTo(page, /contribution [+−]/);
    const lines = page.locator(".tree .node");
    const before = await lines.count();
    await page.keyboard.press("ArrowLeft");
    assert.ok((await lines.count()) < before, "left closes the branch");
    await page.keyboard.press("Enter");
    assert.match(await page.locator(".neighbours").textContent(), /In the ontology/);
  }));

for (const file of ["study.html", "one.html", "candidates.html"]) {
  test(`a sheet of paper is wide enough for ${file}`, () =>
    visit(file, { width: 720 }, async (page) => {
      await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
      await page.emulateMedia({ media: "print" });
      await drawn(page);
      await fitsTheWidth(page, 720);
      assert.equal(await page.locator(".controls:visible, .tabs:visible").count(), 0);
    }));
}

test("tabs by keyboard, and all parts on paper", () =>
  visit("study.html", {}, async (page) => {
    await page.getByRole("tab", { name: "Overview" }).focus();
    await page.keyboard.press("ArrowRight");
    assert.equal(await page.locator("[role=tab][aria-selected=true]").textContent(), "Features");
    await page.pdf({ path: path.join(out, "study.pdf") });
    await page.emulateMedia({ media: "print" });
    for (const id of ["overview", "features", "rows"]) assert.ok(await page.locator("#" + id).isVisible());
  }));
