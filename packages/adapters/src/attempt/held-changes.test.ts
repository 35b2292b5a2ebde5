import type { HeldChanges } from '@signalbox/state';
import { describe, expect, it } from 'vitest';
import { heldQuestion } from './held-changes.ts';

type Conflict = HeldChanges['conflicts'][number];
const conflict = (path: string, theirs: Conflict['theirs'] = 'changed', of = path): Conflict => ({
  ...{ path, of, theirs, yours: null, layers: null },
});

function asked(round: number, ...conflicts: readonly Conflict[]) {
  const held = {
    round,
    root: '/work',
    call: { tool: 'run_command' },
    changes: [],
    conflicts,
  } as unknown as HeldChanges;
  const { call, proposal } = heldQuestion('c', held);
  const { prompt, context } = proposal as { prompt: string; context: { conflicts: { path: string }[]; total: number } };
  return { call, prompt, paths: context.conflicts.map(({ path }) => path), total: context.total };
}

describe('the question about changes that met somebody else’s', () => {
  it('[B43] names every path once, and the directory itself by a name', () => {
    const wal = ['x.db', 'x.db-shm', 'x.db-wal'].map(of => conflict('x.db-wal', 'changed', of));
    expect(asked(0, ...wal, conflict(''))).toEqual({
      call: 'c:changes:0',
      prompt:
        "A command's changes conflict with what someone else did to x.db-wal, the directory itself. Nothing was applied. What should become of the command's changes?",
      paths: ['x.db-wal', 'the directory itself'],
      total: 2,
    });
  });

  it('[B160] names the programs that have a file open for writing, and what using the new version costs', () => {
    const open = (path: string, ...pids: readonly number[]): Conflict => ({
      ...conflict(path, 'open'),
      by: pids.map(pid => ({ program: 'vite', pid })),
    });
    expect(asked(0, conflict('f'), conflict('dev.log'), open('dev.log', 7)).prompt).toBe(
      "A command's changes conflict with what someone else did to f. It also changed dev.log, which vite (pid 7) has open for writing: once replaced, what is written there is lost. Close the program before you use the new version. Nothing was applied. What should become of the command's changes?",
    );
    expect(asked(0, open('dev.log', 7, 8)).prompt).toMatch(
      /^A command changed dev.log, which vite \(pid 7\) and vite \(pid 8\) have open for writing: /,
    );
  });

  it.each<[string, Conflict, string]>([
    [
      'the files changed again',
      conflict('f'),
      'The files changed again after your answer, so it was not carried out. ',
    ],
    [
      'a program has a database open',
      conflict('x.db', 'in-use'),
      'A program has x.db open and would lose what it writes later',
    ],
    ['the directory is another one', conflict('', 'moved'), '/work is not the directory that the command worked in'],
  ])('[B43] says why it is asked again: %s', (_, one, why) => {
    expect(asked(1, one).prompt.startsWith(why)).toBe(true);
    expect(asked(1, one).call).toBe('c:changes:1');
  });
});
