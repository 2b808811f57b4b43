// Pictures of every part of a report: node tests/browser/shots.js report.html [name]
import { copyFileSync } from "node:fs";
import path from "node:path";
import { launch, open, out } from "./browser.js";

const [file, name = "shot"] = process.argv.slice(2);
copyFileSync(file, path.join(out, name + ".html"));
const browser = await launch();
for (const width of [1280, 400]) {
  for (const colorScheme of ["light", "dark"]) {
    const { page, wrong, close } = await open(browser, name + ".html", { width, colorScheme });
    for (const part of await page.locator("[role=tab]").allTextContents()) {
      await page.getByRole("tab", { name: part }).click();
      await page.waitForTimeout(200);
      await page.screenshot({ path: path.join(out, `${name}-${part.toLowerCase()}-${width}-${colorScheme}.png`), fullPage: true });
    }
    if (wrong.length) console.log(width, colorScheme, wrong);
    await close();
  }
}
await browser.close();
