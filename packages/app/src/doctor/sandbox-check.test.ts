import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { err, failure, ok } from '@signalbox/model';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../test/temporary-folder.ts';
import { checkSandbox } from './sandbox-check.ts';

const missing = failure('tool/sandbox-missing', { message: 'bwrap is not installed', suggestion: 'Install it.' });
const folder = temporaryFolder();
const configured = (text: string) => writeFileSync(path.join(folder, 'config.json'), text);

describe('the check of the sandbox', () => {
  it('[A9] is passed where commands can be confined', async () => {
    expect(await checkSandbox(folder, async () => ok({} as never))).toMatchObject({ status: 'ok' });
  });

  it('[A9] [A260] warns where they cannot: they are refused, unless the configuration allows them', async () => {
    expect(await checkSandbox(folder, async () => err(missing))).toEqual({
      name: 'sandbox',
      status: 'warn',
      found: 'bwrap is not installed',
      advice: expect.stringMatching(/^Install it. Without it, agents' commands are refused. .*"allowUnconfined": true/),
    });
    configured('{"commands": {"allowUnconfined": true}}');
    expect(await checkSandbox(folder, async () => err(missing))).toMatchObject({
      status: 'warn',
      found: 'bwrap is not installed; they run unconfined, by configuration',
    });
  });

  it('[A260] fails where the configuration cannot be understood', async () => {
    configured('{"commands": {"allowUnconfined": "yes"}}');
    expect(await checkSandbox(folder, async () => err(missing))).toMatchObject({
      status: 'fail',
      found: expect.stringContaining('commands.allowUnconfined'),
    });
  });
});
