import type { RunId } from '@signalbox/app/host';
import { describe, expect, it } from 'vitest';
import { describeKept, keptSince } from './kept-report.ts';

const [RUN, CHILD] = ['run' as RunId, 'child' as RunId];
const attempt = (number: number, at: string, paths: readonly string[]) => ({ attempt: number, at, paths });

/** A run with a sub-plan, each with one call that was rolled back in place. */
function owner() {
  const calls = {
    [RUN]: [
      {
        ...{ call: 'c/1', tool: 'run_command', kept: [] },
        attempts: [
          attempt(1, '2026-01-01', ['old']),
          attempt(2, '2026-01-03', ['f', 'mine']),
          attempt(3, '2026-01-04', ['f']),
        ],
      },
      { call: 'c/2', tool: 'write_file' },
    ],
    [CHILD]: [{ call: 'd/1', tool: 'run_command', kept: [], attempts: [attempt(1, '2026-01-03', [''])] }],
  };
  return {
    checkpoints: async (run: RunId) => ({ ok: true, value: calls[run] ?? [] }),
    reader: { children: async (run: RunId) => (run === RUN ? [{ id: CHILD, origin: { kind: 'sub-plan' } }] : []) },
  } as never;
}

describe('files that rollbacks kept', () => {
  it('[A327] are told by call when a run is followed to its end, with how to bring them back', async () => {
    const kept = await keptSince(owner(), RUN, '2026-01-02');
    expect(kept).toEqual([
      { run: RUN, call: 'c/1', tool: 'run_command', paths: ['f', 'mine'] },
      { run: CHILD, call: 'd/1', tool: 'run_command', paths: [''] },
    ]);
    expect(describeKept(kept)).toEqual([
      '! run_command was rolled back in your directory. These files may be yours, so they were kept: f, mine',
      '  Restore them: signalbox undo run c/1 --kept',
      '! run_command was rolled back in your directory. These files may be yours, so they were kept: .',
      '  Restore them: signalbox undo child d/1 --kept',
    ]);
  });
});
