// Visits a page of candidates and prints, as JSON, the milliseconds that each step took in each visit.
import { pathToFileURL } from "node:url";
import { launch } from "../../tests/browser/browser.js";

const [file, visits] = process.argv.slice(2);
const url = pathToFileURL(file).href;
const found = { parse: [], ready: [], search: [], filter: [] };
const browser = await launch();

// Both steps end when the browser has laid out what they changed.
function steps() {
  const timed = (act) => {
    const start = performance.now();
    act();
    document.body.getBoundingClientRect();
    return performance.now() - start;
  };
  const text = document.getElementById("data").textContent;
  const input = document.querySelector("input[type=search]");
  const [terms] = [...document.querySelectorAll("select")].slice(-1);
  return {
    parse: timed(() => JSON.parse(text)),
    ready: performance.getEntriesByName("ready")[0].startTime,
    search: timed(() => {
      input.value = "gene19999";
      input.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true }));
      if (!/gene19999/.test(document.querySelector("#row h2").textContent)) throw new Error("the row is not shown");
    }),
    filter: timed(() => {
      input.value = "";
      input.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true }));
      terms.value = "10";
      terms.dispatchEvent(new Event("change"));
    }),
  };
}

for (let k = 0; k < Number(visits); k++) {
  const page = await browser.newPage();
  await page.goto(url);
  await page.waitForSelector("html[data-ready]");
  for (const [name, ms] of Object.entries(await page.evaluate(steps))) found[name].push(ms);
  await page.close();
}
await browser.close();
console.log(JSON.stringify(found));
