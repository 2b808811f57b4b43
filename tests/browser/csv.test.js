// The cells of the page's CSV files are those of the library's: both keep spreadsheets from running a name.
import { test } from "node:test";
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

const SOURCE = new URL("../../src/hietan/report/page/shared/takeaway.js", import.meta.url);
const CELLS = ["=1+1", "＝1+1", "＋1", "－1", "＠a", "@a", "-a", "a;=1+1", 'a"b', "a,b", "a\nb", "daf-2", "a 1"];
const PROGRAM = `
import json, sys
from hietan._io.tables import csv_text
print(json.dumps([csv_text(None, [[cell]]).removesuffix("\\n") for cell in json.load(sys.stdin)]))
`;

test("a cell is written as Python writes it", () => {
  const csvCell = new Function(`${readFileSync(SOURCE, "utf8")}; return csvCell;`)();
  const python = process.env.HIETAN_PYTHON || "python3";
  const expected = JSON.parse(execFileSync(python, ["-c", PROGRAM], { input: JSON.stringify(CELLS) }));
  assert.deepEqual(CELLS.map(csvCell), expected);
  assert.deepEqual(expected.slice(0, 2), ["'=1+1", "'＝1+1"]);
  assert.equal(expected[7], '"a;=1+1"');
});
