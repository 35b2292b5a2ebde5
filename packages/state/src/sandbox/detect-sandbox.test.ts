import * as fs from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../../test/builders.ts';
import { detectSandbox } from './detect-sandbox.ts';

const PROGRAM = process.platform === 'darwin' ? 'sandbox-exec' : 'bwrap';

let directory: ReturnType<typeof temporaryDirectory>;
beforeEach(() => {
  directory = temporaryDirectory();
});
afterEach(() => directory.remove());

function installed(script: string): readonly string[] {
  fs.writeFileSync(`${directory.path}/${PROGRAM}`, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return [directory.path];
}

describe('the detection of a sandbox', () => {
  it('[S65] a program that is not there is named, with what to install', async () => {
    expect(await detectSandbox([directory.path])).toMatchObject({
      ok: false,
      error: { code: 'tool/sandbox-missing', message: expect.stringContaining(`${PROGRAM} is not installed`) },
    });
  });

  it('[S65] a program that cannot confine does not count, and is quoted', async () => {
    expect(await detectSandbox(installed('echo no namespaces here >&2; exit 1'))).toMatchObject({
      ok: false,
      error: { message: expect.stringContaining('no namespaces here') },
    });
  });

  it('[S65] a program that runs the command without confining it does not count', async () => {
    // The command's last argument is a file beside the root.
    const script =
      'for beside; do :; done; while [ "$1" != /bin/sh ]; do shift; done; cd "$(echo "$beside" | sed s/-beside$//)"; exec "$@"';
    expect(await detectSandbox(installed(script))).toMatchObject({
      ok: false,
      error: { message: expect.stringContaining('not confined') },
    });
  });

  it('[S65] a program of that name on the PATH is not taken', async () => {
    const before = process.env.PATH;
    process.env.PATH = installed('touch "$(dirname "$0")/ran"')[0];
    await detectSandbox();
    process.env.PATH = before;
    expect(fs.existsSync(`${directory.path}/ran`)).toBe(false);
  });
});
