import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';

const root = path.join(import.meta.dirname, '..');
/** Code that meets what plans, tools, agents and handlers throw. Bundles only meet what the platform throws. */
const sources = globSync('packages/{adapters,app,plan,signalbox,state}/src/**/*.{ts,tsx}', { cwd: root }).filter(
  file => !/\.test\.tsx?$|\/app\/src\/bundles\//.test(file),
);

describe('what was thrown', () => {
  it('[M85] is turned into text by the functions that never throw, and by nothing else', () => {
    const byHand = /(\w+) instanceof Error \? (?:\(?\1\.|`\$\{\1\.)[^;?]*: (?:String\(\1\)|\1\b)/;
    const found = sources.filter(file => byHand.test(readFileSync(path.join(root, file), 'utf8')));
    expect(found).toEqual([]);
  });
});
