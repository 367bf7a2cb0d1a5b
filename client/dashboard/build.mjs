// Builds the dashboard into a folder: node build.mjs FOLDER. The same sources give the same bytes,
// so that a test can compare what is committed with what they make.
import { copyFileSync, mkdirSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = dirname(fileURLToPath(import.meta.url));
const target = process.argv[2];
if (!target) {
  console.error("say where to: node build.mjs FOLDER");
  process.exit(2);
}
mkdirSync(target, { recursive: true });
await build({
  absWorkingDir: root,
  entryPoints: { dashboard: "src/main.tsx" },
  outdir: resolve(target),
  bundle: true,
  minify: true,
  format: "iife",
  target: ["chrome109", "firefox115", "safari16.4"],
  jsx: "automatic",
  jsxImportSource: "preact",
  legalComments: "inline",
  logLevel: "warning",
});
copyFileSync(join(root, "src/index.html"), join(target, "index.html"));
