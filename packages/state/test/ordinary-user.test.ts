import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { describe, expect, it } from 'vitest';
import { sized } from '../../../test/sized.ts';
import { temporaryDirectory } from './builders.ts';

/** Nobody's, and no other run's: limits count the processes of a user. */
const ORDINARY = 100_000 + process.pid;
/** For a whole suite, also on a busy machine. */
const PATIENCE_MS = 4 * 60 * 60 * 1000;
const repository = path.resolve(import.meta.dirname, '../../..');
const everything = ['packages/state'];
/**
 * Everything that the kernel does otherwise for root: how layers are mounted, which limits hold for a command, what a mode refuses. The
 * rest waits for a full run.
 */
const tried = [
  ...['filesystem', 'layers', 'sandbox'].map(folder => `packages/state/src/${folder}/`),
  ...[
    'confined-command',
    'descriptors',
    'filesystem-contract',
    'git-programs',
    'hostile-commands',
    'layer-closed',
    'layer-crash',
    'layer-links',
    'layers',
    'unprivileged',
    'user-repository',
  ].map(name => `packages/state/test/${name}.test.ts`),
];

/** What the tests said, kept if any of them failed. */
const OUTPUT = path.join(repository, 'node_modules/.cache', `ordinary-user-${process.pid}.log`);

/** The tests of this package as a user who can be refused. Root is refused nothing. */
describe('the tests of this package', () => {
  it('[S130] hold for an ordinary user as well: where they run as root, they run again as one', {
    timeout: PATIENCE_MS,
  }, () => {
    if (process.getuid?.() !== 0) {
      expect(process.getuid?.()).toBeGreaterThan(0);
      return;
    }
    const home = temporaryDirectory();
    // Commands see a temporary directory of their own, so some tests need a place that is none.
    const place = path.join(import.meta.dirname, `.ordinary-${process.pid}`);
    fs.mkdirSync(place);
    try {
      for (const own of [home.path, place]) fs.chownSync(own, ORDINARY, ORDINARY);
      const vitest = path.join(repository, 'node_modules/vitest/vitest.mjs');
      const output = fs.openSync(OUTPUT, 'w');
      const files = sized(tried, everything, everything);
      const args = [vitest, 'run', ...files, '--configLoader', 'native', '--maxWorkers', '2'];
      const ended = spawnSync(process.execPath, args, {
        cwd: repository,
        // Into a file, so that it is there however this ends.
        stdio: ['ignore', output, output],
        uid: ORDINARY,
        gid: ORDINARY,
        env: {
          NO_COLOR: '1',
          HOME: home.path,
          TMPDIR: home.path,
          NODE_COMPILE_CACHE: path.join(home.path, 'compiled'),
          PATH: [path.join(repository, 'node_modules/.bin'), '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin'].join(':'),
          SIGNALBOX_TEST_PLACE: place,
          SIGNALBOX_AGAIN: '1',
          ...passedOn('CI', 'SIGNALBOX_SOAK', 'SIGNALBOX_FULL', 'SIGNALBOX_BUNDLED_CHILDREN'),
        },
      });
      fs.closeSync(output);
      const text = fs.readFileSync(OUTPUT, 'utf8');
      const { status, signal } = ended;
      expect({ status, signal, failed: failedTests(text), output: OUTPUT }, text.slice(-20_000)).toEqual({
        status: 0,
        signal: null,
        failed: [],
        output: OUTPUT,
      });
      fs.rmSync(OUTPUT);
    } finally {
      fs.rmSync(place, { recursive: true, force: true });
      home.remove();
    }
  });
});

describe('the output of tests', () => {
  it('[S130] says which files failed, and in which tests', () => {
    const text =
      ' ✓ |disk| packages/state/test/a.test.ts (1 test) 20ms\n FAIL  |disk| packages/state/test/b.test.ts > b > does\n';
    expect(failedTests(`${text} FAIL  |unit| packages/state/src/c.test.ts [ src/c.test.ts ]\nError: FAIL\n`)).toEqual([
      '|disk| packages/state/test/b.test.ts > b > does',
      '|unit| packages/state/src/c.test.ts [ src/c.test.ts ]',
    ]);
  });
});

/** The tests that Vitest's output reports as failed, each with its file. */
function failedTests(text: string): readonly string[] {
  return text.split('\n').flatMap(line => /^\s*FAIL\s+(.*)$/.exec(line)?.[1] ?? []);
}

function passedOn(...names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.flatMap(name => (process.env[name] ? [[name, process.env[name]]] : [])));
}
