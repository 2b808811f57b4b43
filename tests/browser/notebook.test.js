// A notebook in a real Jupyter server: its cells are run there, and the report is used where the notebook shows it.
import { after, before, describe, test } from "node:test";
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { launch, out } from "./browser.js";

const PYTHON = path.resolve(process.env.HIETAN_PYTHON || ".venv/bin/python");
const NOTEBOOK = path.resolve("tests/data/notebook.ipynb");
const isMissing = spawnSync(PYTHON, ["-c", "import jupyterlab, ipykernel"]).status !== 0;
const skip = isMissing && "Jupyter is not installed: pip install --group notebook";

const freePort = () =>
  new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });

async function startServer(folder) {
  const port = await freePort();
  const options = [
    `--ServerApp.port=${port}`,
    "--ServerApp.port_retries=0",
    "--ServerApp.token=secret",
    `--ServerApp.root_dir=${folder}`,
    "--LabApp.expose_app_in_browser=True",
    "--LabApp.news_url=",
  ];
  const environment = { ...process.env, JUPYTER_CONFIG_DIR: folder, JUPYTER_DATA_DIR: path.join(folder, "data") };
  const server = spawn(PYTHON, ["-m", "jupyterlab", "--no-browser", "--allow-root", ...options], {
    env: environment,
    stdio: "ignore",
  });
  const url = `http://127.0.0.1:${port}`;
  for (let k = 0; k < 240; k++) {
    const answer = await fetch(`${url}/api?token=secret`).catch(() => null);
    if (answer?.ok) return { server, url };
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  server.kill();
  throw new Error("the Jupyter server did not start within a minute");
}

// What the cells after the first put out, once all of them were run; null before.
function runOutputs() {
  const cells = [...window.jupyterapp.shell.currentWidget.content.model.cells];
  const outputs = cells.map(({ outputs: list }) => Array.from({ length: list.length }, (_, i) => list.get(i).type));
  const isDone = cells.every((cell) => cell.executionCount) && outputs.slice(1).every((types) => types.length);
  return isDone || outputs.flat().includes("error") ? outputs.flat() : null;
}

describe("a notebook", { skip }, () => {
  let browser, folder, server, url;
  before(async () => {
    folder = mkdtempSync(path.join(tmpdir(), "hietan-notebook-"));
    copyFileSync(NOTEBOOK, path.join(folder, "notebook.ipynb"));
    [browser, { server, url }] = await Promise.all([launch(), startServer(folder)]);
  });
  after(async () => {
    await browser?.close();
    if (!server) return;
    const ended = new Promise((resolve) => server.on("exit", resolve));
    server.kill("SIGTERM");
    await ended;
    rmSync(folder, { recursive: true, force: true });
  });

  test("runs in a Jupyter server, and its report is used within it", async () => {
    const page = await browser.newPage({ viewport: { width: 1200, height: 900 } });
    const wrong = [];
    page.on("request", (request) => {
      const isOurs = request.url().startsWith(url) || /^(data|blob|about):/.test(request.url());
      if (!isOurs) wrong.push(request.url());
    });
    await page.goto(`${url}/doc/tree/notebook.ipynb?token=secret`);
    await page.waitForFunction(() => window.jupyterapp?.shell.currentWidget?.sessionContext?.session, null, {
      timeout: 90000,
    });
    await page.evaluate(() => window.jupyterapp.commands.execute("runmenu:run-all"));
    // Jupyter draws what can be seen, so what was run is asked of its model, and the cell of the report is gone to.
    const kinds = await page.waitForFunction(runOutputs, null, { timeout: 90000 });
    assert.deepEqual(await kinds.jsonValue(), Array(9).fill("execute_result"));
    await page.evaluate(() => {
      const { content } = window.jupyterapp.shell.currentWidget;
      content.activeCellIndex = 5;
      return content.scrollToItem(5);
    });
    const frame = page.frameLocator("iframe[title='synthetic: 2 methods compared']");
    await frame.locator("html[data-ready]").waitFor({ state: "attached" });
    await page.locator("iframe[title='synthetic: 2 methods compared']").scrollIntoViewIfNeeded();
    assert.equal(await frame.locator(".quality tbody tr").count(), 2);
    await frame.getByRole("tab", { name: "Rows" }).click();
    await frame.getByLabel("Search rows").fill("row3");
    await frame.getByLabel("Search rows").press("Enter");
    await frame.getByRole("heading", { name: "Row row3", exact: true }).waitFor();
    await frame.getByRole("tab", { name: "Features" }).click();
    await frame.locator(".swarm circle").first().waitFor();
    await page.screenshot({ path: path.join(out, "notebook.png") });
    assert.deepEqual(wrong, [], "requests that leave the computer");
  });
});
