import type { RollbackReport, RunId } from '@signalbox/model';
import { describe, expect, it } from 'vitest';
import { canRollBack, rollbackWords } from './rollback-words.ts';

const call = { call: 't/1/1/0', tool: 'write_file' };
const report = (fields: Partial<RollbackReport> = {}): RollbackReport => ({
  ...{ frame: 2, calls: [call], paths: ['a.txt'], lost: [], effects: [] },
  ...fields,
});

describe('a rollback', () => {
  it('[K90] says what happens to files before it is done', () => {
    expect(rollbackWords(report())).toBe('1 call is undone. This path goes back:');
    expect(rollbackWords(report({ calls: [call, call], paths: ['a.txt', 'b.txt'] }))).toBe(
      '2 calls are undone. These paths go back:',
    );
    expect(rollbackWords(report({ calls: [], paths: [] }))).toContain('No files change');
    expect(rollbackWords(report({ calls: [], paths: [], run: 'r' as RunId }))).toContain(
      'already rolled back to this call',
    );
  });

  it('[K90] waits for the report, and for effects outside to be accepted', () => {
    const mail = report({ effects: ['the call of mail by agent'] });
    expect([canRollBack(undefined, true), canRollBack(mail, false)]).toEqual([false, false]);
    expect([canRollBack(report(), false), canRollBack(mail, true)]).toEqual([true, true]);
  });
});
