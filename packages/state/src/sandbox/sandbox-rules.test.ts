import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { must, temporaryDirectory } from '../../test/builders.ts';
import { DEFAULT_LIMITS } from './command-limits.ts';
import { NO_RULES, readSandboxRules } from './sandbox-rules.ts';

let directory: ReturnType<typeof temporaryDirectory>;
beforeEach(() => {
  directory = temporaryDirectory();
  fs.mkdirSync(`${directory.path}/.signalbox`);
});
afterEach(() => directory.remove());

const file = () => `${directory.path}/.signalbox/sandbox.json`;
const read = (written?: string) => {
  if (written !== undefined) fs.writeFileSync(file(), written);
  return readSandboxRules(directory.path, '/home/ada');
};

describe('the rules of a project', () => {
  it('[S154] are none without a file', () => {
    expect(must(read())).toBeUndefined();
    expect(must(readSandboxRules('/no/such/project', '/home/ada'))).toBeUndefined();
  });

  it('[S154] have absolute places, and defaults for what is not said', () => {
    const written = { read: ['~/.aws/config', '../shared', '/srv/data'], write: ['~'], limits: { memoryMb: 64 } };
    expect(must(read(JSON.stringify(written)))).toEqual({
      file: file(),
      digest: expect.stringMatching(/^[0-9a-f]{64}$/),
      rules: {
        ...NO_RULES,
        read: ['/home/ada/.aws/config', `${directory.path.replace(/\/[^/]*$/, '')}/shared`, '/srv/data'],
        write: ['/home/ada'],
        limits: { ...DEFAULT_LIMITS, memoryMb: 64 },
      },
    });
  });

  it('[S154] every change of the file has another digest', () => {
    const digests = ['{}', '{ }', '{"network":"host"}'].map(text => must(read(text))?.digest);
    expect(new Set(digests).size).toBe(3);
  });

  it.each([
    ['{', 'it is not JSON'],
    ['[]', 'expected object'],
    ['{"reed": []}', 'it has "reed", which is not a setting'],
    ['{"limits": {"memory": 1}}', 'limits has "memory", which is not a setting'],
    ['{"limits": {"memoryMb": "much"}}', 'limits.memoryMb: '],
    ['{"network": true}', 'network: '],
    ['{"env": ["A=B"]}', 'env.0: it must be the name of a variable'],
    ['{"read": [""]}', 'read.0: '],
    [' '.repeat(70_000), 'it has more than 65536 bytes'],
  ])('[S154] %.40s is refused with the place that is wrong', (written, why) => {
    expect(read(written)).toMatchObject({
      ok: false,
      error: {
        code: 'tool/refused',
        message: expect.stringContaining(`${file()} cannot be used: `),
        suggestion: expect.stringContaining('Nothing was run.'),
      },
    });
    const refused = read(written);
    expect(refused.ok ? '' : refused.error.message).toContain(why);
  });

  it.each([
    ['a directory', () => fs.mkdirSync(file())],
    ['a pipe', () => execFileSync('mkfifo', [file()])],
  ])('[S154] %s in its place is neither skipped nor waited for', (_, make) => {
    make();
    expect(read()).toMatchObject({ ok: false, error: { message: expect.stringContaining('it is not a file') } });
  });
});
