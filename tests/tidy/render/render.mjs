// Draws each Mermaid picture of standard input (a JSON list of texts); a line per picture that
// cannot be drawn, and exit code 1. No browser: jsdom measures no text, so every box has one size.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

// The packages are where the test installed them, not beside this file.
const require = createRequire(`${process.argv[2]}/`);
const load = (name) => import(pathToFileURL(require.resolve(name)));
const { JSDOM } = (await load('jsdom')).default;
const { window } = new JSDOM('<!DOCTYPE html><body></body>', { pretendToBeVisual: true });
const names = ['document', 'Element', 'HTMLElement', 'SVGElement', 'Node', 'DOMParser',
  'XMLSerializer', 'getComputedStyle', 'CSSStyleSheet'];
for (const name of names) globalThis[name] ??= window[name];
globalThis.window = window;
window.SVGElement.prototype.getBBox = () => ({ x: 0, y: 0, width: 100, height: 20 });
window.SVGElement.prototype.getComputedTextLength = () => 100;

const { default: mermaid } = await load('mermaid');
mermaid.initialize({ startOnLoad: false, htmlLabels: false, flowchart: { htmlLabels: false } });
for (const [index, text] of JSON.parse(readFileSync(0, 'utf8')).entries()) {
  try {
    const { svg } = await mermaid.render(`picture${index}`, text);
    if (!svg.startsWith('<svg')) throw new Error('no drawing came out');
  } catch (error) {
    console.log(`picture ${index}: ${error.message ?? error}`);
    process.exitCode = 1;
  }
}
