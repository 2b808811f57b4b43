// A browser for the tests: Debian's Chromium, or the one that the variable CHROMIUM names.
import { mkdirSync } from "node:fs";
import { pathToFileURL } from "node:url";
import path from "node:path";
import { chromium } from "playwright-core";

const flags = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];
export const out = path.resolve("out", "browser");
mkdirSync(out, { recursive: true });

export const launch = () =>
  chromium.launch({ executablePath: process.env.CHROMIUM || "/usr/bin/chromium", args: flags });
export const address = (file) => pathToFileURL(path.join(out, file)).href;

// A page that keeps what it must not do: errors on the console, and requests for anything but itself.
export async function open(browser, file, { width = 1280, height = 900, colorScheme = "light" } = {}) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme, reducedMotion: "reduce" });
  await context.addInitScript(countElements);
  const page = await context.newPage();
  const wrong = [];
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && wrong.push(message.text()));
  page.on("pageerror", (error) => wrong.push(String(error)));
  page.on("dialog", (dialog) => {
    wrong.push("a dialog: " + dialog.message());
    dialog.dismiss();
  });
  page.on("request", (request) => {
    if (request.url().split("#")[0] !== address(file)) wrong.push("a request: " + request.url());
  });
  await page.goto(address(file));
  await page.waitForSelector("html[data-ready]");
  return { page, wrong, close: () => context.close() };
}

// How many elements the page has made so far: a measure of its work that does not depend on the machine.
function countElements() {
  window.elementsMade = 0;
  for (const method of ["createElement", "createElementNS"]) {
    const original = Document.prototype[method];
    Document.prototype[method] = function (...args) {
      window.elementsMade++;
      return original.apply(this, args);
    };
  }
}

// Pictures are drawn when the browser tells the page how wide they are: wait until all that can be seen are there.
export async function drawn(page) {
  await page.waitForFunction(() => {
    const isVisible = (element) => element.getClientRects().length > 0;
    const all = (selector) => [...document.querySelectorAll(selector)].filter(isVisible);
    return (
      all("details.removed[open]").every((details) => details.querySelector("li")) &&
      all(".stage, .hierarchy").every((picture) => picture.querySelector("svg")) &&
      all("#overview .grid > div:empty, #ranking .card > div:not(.more):empty").length === 0
    );
  });
}
