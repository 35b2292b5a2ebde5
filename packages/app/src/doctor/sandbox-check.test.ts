import { err, failure, ok } from '@signalbox/model';
import { describe, expect, it } from 'vitest';
import { checkSandbox } from './sandbox-check.ts';

describe('the check of the sandbox', () => {
  it('[A9] is passed where commands can be confined', async () => {
    expect(await checkSandbox(async () => ok({} as never))).toMatchObject({ status: 'ok' });
  });

  it('[A9] warns where they cannot, and says what follows from it', async () => {
    const missing = failure('tool/sandbox-missing', { message: 'bwrap is not installed', suggestion: 'Install it.' });
    expect(await checkSandbox(async () => err(missing))).toEqual({
      name: 'sandbox',
      status: 'warn',
      found: 'bwrap is not installed',
      advice: 'Install it. Without it, every command that an agent wants to run waits for a person.',
    });
  });
});
