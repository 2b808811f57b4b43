// The report as people see it: in a real browser, wide and narrow, light and dark. Run by `make test-browser`.
import { after, before, describe, test } from "node:test";
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { launch, open, out } from "./browser.js";

const axe = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
const expected = JSON.parse(readFileSync(path.join(out, "expected.json"), "utf8"));
let browser;
before(async () => { browser = await launch(); });
after(async () => { await browser.close(); });

async function visit(file, options, look) {
  const { page, wrong, close } = await open(browser, file, options);
  try {
    await look(page);
    assert.deepEqual(wrong, [], "errors on the console, or requests");
  } finally { await close(); }
}
const part = (page, name) => page.getByRole("tab", { name }).click();
const control = (page, label) => page.locator("section.part:not([hidden])").getByLabel(label, { exact: true });
const picture = (page, name) => page.screenshot({ path: path.join(out, name + ".png"), fullPage: true });

async function noViolations(page) {
  // Read by the test, not by the page: its policy lets it run nothing but its own script.
  const found = await page.evaluate(async (source) => {
    (0, eval)(source);
    const result = await axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"] });
    if (result.passes.length < 10) throw new Error("axe looked at nothing");
    return result.violations.map((v) => `${v.id}: ${v.nodes.slice(0, 3).map((n) => n.html + " " + n.failureSummary).join(" | ")}`);
  }, readFileSync(axe, "utf8"));
  assert.deepEqual(found, []);
}

async function fitsTheWidth(page, width) {
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth) <= width, "the page scrolls sideways");
}

async function findGene(page, gene) {
  await part(page, "Genes");
  await control(page, "Search a gene").fill(gene);
  await control(page, "Dataset").selectOption("0");
  const button = page.locator(".genes button").filter({ has: page.locator("bdi", { hasText: new RegExp(`^${gene}$`) }) });
  await button.first().click();
  await page.getByRole("heading", { name: `Gene ${gene}`, exact: true }).waitFor();
}

for (const width of [1280, 400]) {
  describe(`at ${width} pixels`, () => {
    test("the overview shows the scores, and the switch changes them", () => visit("study.html", { width }, async (page) => {
      const cells = () => page.locator(".heat tbody td").allTextContents();
      assert.deepEqual((await cells()).sort(), expected.gmean.slice().sort());
      await page.getByRole("button", { name: "AUC" }).click();
      assert.deepEqual((await cells()).sort(), expected.auc.slice().sort());
      assert.equal(await page.getByRole("button", { name: "AUC" }).getAttribute("aria-pressed"), "true");
      assert.equal(await page.locator("svg[aria-label^='Average ranks']").count(), 1);
      assert.equal(await page.locator(".ranking tbody tr").count(), 3);
      await fitsTheWidth(page, width);
      await picture(page, `overview-${width}`);
    }));

    test("features are sorted and searched, and methods switched", () => visit("study.html", { width }, async (page) => {
      await part(page, "Features");
      await page.getByRole("button", { name: "Freq. in Edges" }).click();
      const values = await page.$$eval(".usage tbody td:nth-child(4)", (cells) => cells.map((c) => Number(c.firstChild.textContent.replaceAll(",", ""))));
      assert.deepEqual(values, values.slice().sort((a, b) => b - a));
      assert.equal(values[0], expected.most_edges);
      assert.equal(await page.locator("th[aria-sort=descending]").textContent(), "Freq. in Edges");
      const feature = Object.keys(expected.features)[5];
      await control(page, "Search terms").fill(feature);
      await page.getByText(/^1 term of/).waitFor();
      assert.equal(await page.locator(".usage tbody tr").count(), 1);
      const before = await page.locator(".usage tbody tr").textContent();
      await control(page, "Method").selectOption({ label: "TAN" });
      assert.notEqual(await page.locator(".usage tbody tr").textContent(), before);
      await fitsTheWidth(page, width);
      await picture(page, `features-${width}`);
    }));

    test("a gene is found, and its trees are those of the models", () => visit("study.html", { width }, async (page) => {
      const names = Object.keys(expected.features);
      for (const [gene, trees] of Object.entries(expected.trees)) {
        await findGene(page, gene);
        assert.equal(await page.locator(".scores tbody tr").count(), 3);
        for (const [method, tree] of Object.entries(trees)) {
          await control(page, "Method").selectOption({ label: method });
          const drawn = await page.evaluate(() => ({
            ids: [...document.querySelectorAll(".tree .node")].map((n) => [Number(n.dataset.node), n.getAttribute("aria-label").split(" ")[0]]),
            edges: [...document.querySelectorAll(".tree .edge")].map((e) => [Number(e.dataset.from), Number(e.dataset.to)]),
          }));
          assert.equal(drawn.ids.length, tree.nodes);
          const label = new Map(drawn.ids);
          assert.deepEqual(drawn.edges.map(([a, b]) => `${label.get(a)} -> ${label.get(b)}`).sort(), tree.edges);
          assert.ok([...label.values()].every((name) => names.includes(name)));
        }
      }
      await fitsTheWidth(page, width);
    }));

    test("two methods side by side; hover, click, keys, zoom; removed terms", () => visit("study.html", { width }, async (page) => {
      await findGene(page, Object.keys(expected.trees)[0]);
      await control(page, "Method").selectOption({ label: "TAN" });
      await control(page, "Beside it").selectOption({ label: "Hie-TAN-Lite" });
      assert.equal(await page.locator(".panel").count(), 2);
      const panel = page.locator(".panel").first(), world = panel.locator(".stage svg > g");
      const whole = await world.getAttribute("transform");
      await panel.getByRole("button", { name: "Zoom in" }).click();
      assert.notEqual(await world.getAttribute("transform"), whole);
      await panel.getByRole("button", { name: "Show the whole tree" }).click();
      assert.equal(await world.getAttribute("transform"), whole);
      await panel.locator(".node[tabindex='0']").focus();
      assert.match(await panel.locator(".tip").textContent(), /contribution.*probability of this value/);
      const start = await page.evaluate(() => document.activeElement.dataset.node);
      await page.keyboard.press("ArrowRight");
      assert.notEqual(await page.evaluate(() => document.activeElement.dataset.node), start);
      await page.keyboard.press("Enter");
      assert.match(await panel.locator(".neighbours").textContent(), /In the ontology.*right above.*right below/);
      await panel.locator(".stage").scrollIntoViewIfNeeded();
      const box = await panel.locator(".stage").boundingBox();
      await page.mouse.move(box.x + 12, box.y + box.height - 12);
      await page.mouse.down();
      await page.mouse.move(box.x + 60, box.y + box.height - 50, { steps: 4 });
      await page.mouse.up();
      assert.notEqual(await world.getAttribute("transform"), whole);
      const removed = page.locator(".removed").first();
      await removed.locator("summary").click();
      assert.match(await removed.locator("li").first().textContent(), /which is [01]: same value as its (ancestor|descendant) /);
      await fitsTheWidth(page, width);
      await picture(page, `genes-${width}`);
    }));

    test("names are text everywhere", () => visit("nasty.html", { width }, async (page) => {
      for (const name of ["Overview", "Features", "Genes"]) {
        await part(page, name);
        await page.evaluate(() => document.querySelectorAll("details").forEach((d) => { d.open = true; }));
        await page.waitForTimeout(100);
        assert.equal(await page.locator("main script, main img, main b:not(.tip b)").count(), 0);
        await fitsTheWidth(page, width);
        await picture(page, `nasty-${name.toLowerCase()}-${width}`);
      }
      for (const name of expected.nasty.filter((n) => !n.startsWith("long"))) {
        await control(page, "Search a gene").fill(name.split("\n")[0]);
        await page.waitForFunction((text) => document.querySelector(".genes strong")?.textContent.includes(text), name.split("\n")[0].trim());
        await page.locator(".genes button").first().click();
        assert.ok((await page.locator("#gene h2").first().textContent()).includes(name.split("\n")[0].trim()));
      }
      assert.match(await page.locator("body").textContent(), /<script>alert\(1\)<\/script>/);
    }));

    test("names of candidates are text", () => visit("nasty-candidates.html", { width }, async (page) => {
      await page.locator(".removed summary").first().click();
      for (const node of await page.locator(".node").all()) await node.dispatchEvent("click");
      await page.locator(".node").first().focus();
      assert.equal(await page.locator("main script, main img, main b:not(.tip b)").count(), 0);
      assert.match(await page.locator(".caution").textContent(), /separates <b>anti<\/b> from <\/script>pro, the classes/);
      await fitsTheWidth(page, width);
      await picture(page, `nasty-candidates-${width}`);
    }));

    for (const colorScheme of ["light", "dark"]) {
      test(`no violation of A or AA, ${colorScheme}`, () => visit("study.html", { width, colorScheme }, async (page) => {
        for (const name of ["Overview", "Features", "Genes"]) {
          await part(page, name);
          await page.evaluate(() => document.querySelectorAll("details").forEach((d) => { d.open = true; }));
          if (name === "Genes") await control(page, "Beside it").selectOption({ label: "HIP" });
          await noViolations(page);
          await picture(page, `${name.toLowerCase()}-${width}-${colorScheme}`);
        }
      }));
    }
  });
}

test("a gene that is not explained shows the command that explains it", () => visit("study.html", {}, async (page) => {
  await part(page, "Genes");
  const gene = await page.evaluate(() => {
    const data = JSON.parse(document.getElementById("data").textContent).datasets[0];
    const explained = new Set(data.explained.map((e) => e.row));
    return data.genes.findLast((_, i) => !explained.has(i));
  });
  await findGene(page, gene);
  assert.equal(await page.locator(".command").textContent(), `hietan study ... --genes ${gene}`);
}));

test("tabs by keyboard, and all parts on paper", () => visit("study.html", {}, async (page) => {
  await page.getByRole("tab", { name: "Overview" }).focus();
  await page.keyboard.press("ArrowRight");
  assert.equal(await page.locator("[role=tab][aria-selected=true]").textContent(), "Features");
  await page.pdf({ path: path.join(out, "study.pdf") });
  await page.emulateMedia({ media: "print" });
  for (const id of ["overview", "features", "genes"]) assert.ok(await page.locator("#" + id).isVisible());
}));

test("20,000 candidates are a usable page", () => visit("candidates.html", {}, async (page) => {
  const ready = await page.evaluate(() => performance.getEntriesByName("ready")[0].startTime);
  const list = page.locator(".genes button");
  const start = Date.now();
  await control(page, "Search a gene").fill("gene19999");
  await page.getByText("1 gene", { exact: true }).waitFor();
  const searched = Date.now() - start;
  console.log(`# ${expected.candidates} candidates: interactive after ${Math.round(ready)} ms, a search takes ${searched} ms`);
  assert.ok(ready < 5000, `interactive after ${ready} ms`);
  assert.ok(searched < 2000, `a search takes ${searched} ms`);
  assert.equal(await list.count(), 1);
  await list.first().click();
  await page.getByRole("heading", { name: "Gene gene19999 sym-19999", exact: true }).waitFor();
  await control(page, "Search a gene").fill("SYM-777");
  await page.getByText("6 genes", { exact: true }).waitFor(); // itself, 7771, 7773, 7775, 7777 and 7779
  assert.match(await list.first().textContent(), /gene777\d? sym-777/);
  await control(page, "Search a gene").fill("");
  await page.getByText("20,000 genes", { exact: true }).waitFor();
  assert.match(await page.locator(".caution").textContent(), /separates anti from pro, the classes it was trained on.* does not say that a gene belongs to one\.$/);
  await list.first().click();
  assert.ok(await page.locator(".tree .node").count() > 1);
  await noViolations(page);
  await picture(page, "candidates-1280");
}));
