// The picture of the README: node tests/browser/picture.js PAGE PICTURE, the page below out/browser.
import { drawn, launch, open } from "./browser.js";

const [file, picture] = process.argv.slice(2);
const browser = await launch();
const { page } = await open(browser, file, { width: 1280, height: 1180 });
await page.getByRole("tab", { name: "Genes" }).click();
await page.evaluate(() => document.fonts.ready);
await drawn(page);
await page.screenshot({ path: picture });
await browser.close();
