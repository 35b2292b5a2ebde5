import { missingSandbox } from '@signalbox/app';
import { describe, expect, it } from 'vitest';
import { leftOut } from './demo-live.ts';

describe('the demo', () => {
  it('[A263] [X15] says what it leaves out where there is no sandbox, and nothing where there is one', async () => {
    const missing = await missingSandbox(async () => ({
      ok: false,
      error: {
        code: 'tool/sandbox-missing',
        message: 'bwrap is not installed',
        suggestion: '',
        retry: { kind: 'not_retryable' },
      },
    }));
    expect(leftOut(missing).join('\n')).toContain(
      "Not shown: agents' commands and programs. They are refused here: bwrap is not installed.",
    );
    expect(leftOut(undefined)).toEqual([]);
  });
});
