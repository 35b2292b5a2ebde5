import { describe, expect, it } from 'vitest';
import { readSources } from './source-file.ts';

/** The files that start processes by themselves, and why each may. Everything else uses `startProgram` or `runProgram` of `state`. */
const STARTERS: Readonly<Record<string, string>> = {
  'packages/state/src/programs/start-program.ts': 'it is the one that keeps descriptors back',
  'packages/app/src/child/child-process.ts': 'it starts this program again, by the path of its own Node',
  'packages/signalbox/src/serving/desktop-command.ts': 'a browser, which the person asked for and sits in front of',
  'packages/signalbox/src/serving/open-browser.ts': 'a browser, which the person asked for and sits in front of',
  'packages/signalbox/src/lint/type-check.ts':
    'it starts the type checker of the person’s own project, by the path of its own Node',
  'packages/app/src/threads/io-watch.ts': 'it starts nothing: it refuses what renders start',
  'packages/testkit/src/child-process.ts': 'for tests',
};

describe('processes', () => {
  it('[S170] [S171] are started in one place, which gives them no descriptor of ours, but for those listed', () => {
    const sources = readSources(file => /^packages\/[^/]+\/src\/.*\.tsx?$/.test(file) && !/\.test\.tsx?$/.test(file));
    const starters = sources.filter(({ source }) =>
      /^import (?!type\b).*'node:child_process'|import\('node:child_process'\)/m.test(source),
    );
    expect(starters.map(({ path }) => path).sort()).toEqual(Object.keys(STARTERS).sort());
  });

  it('[S171] are named by a whole path, or looked for where the system has its programs', () => {
    const sources = readSources(file => /^packages\/[^/]+\/src\/.*\.tsx?$/.test(file) && !/\.test\.tsx?$/.test(file));
    const byName = sources.flatMap(({ path, source }) =>
      [...source.matchAll(/\b(?:startProgram|runProgram|spawn|spawnSync|execFile|execFileSync)\(\s*'([^'/]+)'/g)].map(
        ([, name]) => `${path}: ${name}`,
      ),
    );
    expect(byName).toEqual([]);
  });
});
