// How the scripts of the report and of its tests are checked; run from the root of the repository by `make lint-js`.
import { readFileSync, readdirSync } from "node:fs";
import path from "node:path";
import js from "@eslint/js";
import globals from "globals";

const PAGE = path.resolve(import.meta.dirname, "../../src/hietan/report/page");

const rules = {
  eqeqeq: "error",
  "prefer-const": "error",
  "no-var": "error",
  complexity: ["error", 10],
  "max-len": ["error", { code: 120 }],
  "max-lines": ["error", 450],
  "max-lines-per-function": ["error", 60],
};

// The scripts of the page are joined into one, so all of them share one scope: what one declares at the top, in the
// first column, the others may use. It counts as used if they do, and no two may declare the same name.
const scripts = readdirSync(PAGE, { recursive: true }).filter((file) => file.endsWith(".js"));
const source = Object.fromEntries(scripts.map((file) => [file, readFileSync(path.join(PAGE, file), "utf8")]));
const declared = (file) => [...source[file].matchAll(/^(?:const|let|function|class) (\w+)/gm)].map((match) => match[1]);

function pageScript(file) {
  const others = scripts.filter((other) => other !== file);
  const shared = Object.fromEntries(others.flatMap(declared).map((name) => [name, "readonly"]));
  const isWanted = (name) => others.some((other) => new RegExp(`\\b${name}\\b`).test(source[other]));
  const wanted = declared(file).filter(isWanted);
  return {
    files: [`**/report/page/${file}`],
    languageOptions: { sourceType: "script", globals: { ...globals.browser, ...shared } },
    rules: { "no-unused-vars": ["error", { varsIgnorePattern: `^(${wanted.join("|")})$` }] },
  };
}

export default [
  js.configs.recommended,
  { linterOptions: { reportUnusedDisableDirectives: "error" }, rules },
  ...scripts.map(pageScript),
  // Functions that the tests hand to the browser see its globals, and axe where it was loaded.
  {
    files: ["tests/browser/**"],
    languageOptions: { globals: { ...globals.node, ...globals.browser, axe: "readonly" } },
  },
];
