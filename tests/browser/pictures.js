// The pictures of the docs, from the pages below out/browser: node tests/browser/pictures.js FOLDER (`make pictures`).
import path from "node:path";
import { drawn, launch, open } from "./browser.js";

const [folder] = process.argv.slice(2);
const card = (title) => `section.card:has(h2:text-is("${title}"))`;

// Each picture: its page, the address within it, what is done there, and the element that is shown; else the window.
const PICTURES = [
  { name: "report", page: "worm.html", at: "#row/bec-1", height: 1080 },
  { name: "report-overview", page: "worm.html", at: "#overview", height: 1000 },
  { name: "report-curves", page: "worm.html", at: "#method/hie-logistic", height: 1060 },
  { name: "report-terms", page: "worm.html", at: "#features", height: 1000 },
  {
    name: "report-hierarchy",
    page: "worm.html",
    at: "#features",
    show: card("Where these terms are in the hierarchy"),
  },
  { name: "report-term", page: "worm.html", at: "#term/GO:0007034", show: ".shown-here > .card" },
  { name: "report-sum", page: "worm.html", at: "#row/bec-1", show: ".fall" },
  { name: "report-similar", page: "worm.html", at: "#row/daf-16", show: card("The most similar genes") },
  { name: "report-compared", page: "worm.html", at: "#row/bec-1", compare: "tan", scroll: ".panels", height: 1100 },
  { name: "report-ranking", page: "several.html", at: "#overview", height: 1000 },
  { name: "report-candidates", page: "genome.html", at: "#rows", height: 1060 },
  { name: "report-phone", page: "worm.html", at: "#features", width: 420, height: 860, colorScheme: "dark" },
  { name: "report-dark", page: "worm.html", at: "#overview", height: 800, colorScheme: "dark" },
];

async function take(
  browser,
  { name, page: file, at, show, scroll, compare, width = 1280, height = 1700, colorScheme },
) {
  const { page, wrong, close } = await open(browser, file, { width, height, colorScheme });
  await page.evaluate((address) => (location.hash = address), at);
  if (compare) await page.locator("#rows").getByLabel("Compare with").selectOption({ label: compare });
  await page.evaluate(() => document.fonts.ready);
  await drawn(page);
  const where = { path: path.join(folder, name + ".png") };
  // An address of a part scrolls to it: the picture begins at the top, unless something in it was asked for.
  if (!at.includes("/")) await page.evaluate(() => scrollTo(0, 0));
  if (scroll) await page.locator(scroll).evaluate((element) => element.scrollIntoView());
  if (show) await page.locator(show).first().screenshot(where);
  else await page.screenshot(where);
  await close();
  if (wrong.length) throw new Error(`${name}: ${wrong}`);
}

const browser = await launch();
for (const picture of PICTURES) await take(browser, picture);
await browser.close();
