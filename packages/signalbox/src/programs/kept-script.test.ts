import { spawnSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { runScript } from './kept-script.ts';

const root = mkdtempSync(path.join(tmpdir(), 'kept-script-'));
afterAll(() => rmSync(root, { recursive: true }));

let folder = '';
let made = 0;
beforeEach(() => {
  made += 1;
  folder = path.join(root, `code-${made}`);
  mkdirSync(folder, { mode: 0o700 });
});

/** A script that exports what `answer` gives, and the URL and the sum that it was told. */
function script(answer: string): URL {
  const file = path.join(root, 'answers.script.js');
  writeFileSync(
    file,
    `(function(exports,require,module,__meta){"use strict";
exports.answer=()=>${answer};exports.url=__meta.url;exports.imported=()=>__meta.import('node:path');exports.joined=require('node:path').join('a','b');})`,
  );
  return pathToFileURL(file);
}

interface Answers {
  answer(): number;
  readonly url: string;
  readonly joined: string;
  imported(): Promise<unknown>;
}

const run = (answer: string, given: string | undefined = folder) => runScript<Answers>(script(answer), given);
/** Another process has compiled nothing yet. */
function answerOfProcess(url: URL): string {
  const program = `import { runScript } from ${JSON.stringify(new URL('./kept-script.ts', import.meta.url).href)};
console.log(runScript(new URL(${JSON.stringify(url.href)}), ${JSON.stringify(folder)}).exports.answer());`;
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' });
  return stdout.trim() + stderr;
}
const kept = () => readdirSync(folder).map(file => path.join(folder, file));
const onlyKept = () => {
  const [file = '', ...rest] = kept();
  expect(rest).toEqual([]);
  return file;
};

describe('[A520] a program that is built as a script', () => {
  it('runs with what a module has, and keeps its code once, for its owner alone', async () => {
    const first = run('1');
    const { answer, url, joined, imported } = first.exports;
    expect([answer(), url, joined, await imported()]).toEqual([
      1,
      script('1').href,
      path.join('a', 'b'),
      await import('node:path'),
    ]);
    expect(kept()).toEqual([]);
    first.keep();
    const file = onlyKept();
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const { ino } = statSync(file);
    first.keep();
    const second = run('1');
    second.keep();
    expect([second.exports.answer(), statSync(onlyKept()).ino]).toEqual([1, ino]);
  });

  it('runs from the code that was kept', () => {
    run('1').keep();
    const file = onlyKept();
    rmSync(file);
    const two = run('2');
    // Code that has not run is neither compiled nor cached.
    expect(two.exports.answer()).toBe(2);
    two.keep();
    // V8 looks at the length of a source only, which is why nobody else may write there.
    renameSync(onlyKept(), file);
    expect(answerOfProcess(script('1'))).toBe('2');
    // The same without what was kept.
    rmSync(file);
    expect(answerOfProcess(script('1'))).toBe('1');
  });

  it.each([
    ['empty', () => Buffer.alloc(0)],
    ['shorter than its check', () => Buffer.alloc(3)],
    ['cut off', (code: Buffer) => code.subarray(0, code.length >> 1)],
    ['changed', (code: Buffer) => Buffer.from(code.map((byte, at) => (at === code.length >> 1 ? byte ^ 1 : byte)))],
  ])('takes a file that is %s for none, and keeps it again', (_what, damage) => {
    run('3').keep();
    const file = onlyKept();
    const whole = readFileSync(file);
    writeFileSync(file, damage(whole));
    const again = run('3');
    expect(again.exports.answer()).toBe(3);
    again.keep();
    expect(readFileSync(onlyKept())).not.toEqual(damage(whole));
  });

  it('keeps a few versions of it, the newest', () => {
    for (const answer of ['1', '22', '333', '4444', '55555', '666666']) {
      run(answer).keep();
      const hour = 3600 * (Date.now() / 3600_000 - 10 + answer.length);
      for (const file of kept()) if (statSync(file).mtimeMs > Date.now() - 60_000) utimesSync(file, hour, hour);
    }
    expect(kept()).toHaveLength(4);
    const before = kept();
    run('666666').keep();
    expect(kept()).toEqual(before);
  });

  it('runs without a folder, or with one that takes nothing', () => {
    const none = run('5', undefined);
    none.keep();
    rmSync(folder, { recursive: true });
    const gone = run('6');
    gone.keep();
    expect([none.exports.answer(), gone.exports.answer()]).toEqual([5, 6]);
  });
});
