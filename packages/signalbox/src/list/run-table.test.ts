import type { RunRecord } from '@signalbox/app/host';
import { expect, it } from 'vitest';
import { widthOf } from '../live/text-width.ts';
import { paintOf } from '../terminal.ts';
import { describeAge, type ListedRow, runTable } from './run-table.ts';

const NOW = Date.UTC(2026, 0, 2);
const paint = (hasColours: boolean) => paintOf({ print() {}, complain() {}, hasColours });

function row(id: number, fields: Partial<Record<keyof RunRecord, unknown>>, more: Partial<ListedRow> = {}): ListedRow {
  const record = {
    id: `01890000-7000-7000-8000-00000000000${id}`,
    name: 'review',
    status: 'completed',
    tags: [],
    createdAt: '2026-01-01T23:58:00.000Z',
    ...fields,
  };
  return { run: { kind: 'plan', record } as unknown as ListedRow['run'], until: undefined, openDecisions: 0, ...more };
}

const rows = [
  row(1, { status: 'waiting', name: 'a name that is longer than there is room for' }, { openDecisions: 1 }),
  row(2, { status: 'failed', error: { class: 'terminal', code: 'x', message: 'It broke.\nIn two lines.' } }),
  row(3, { tags: ['nightly'], createdAt: '2025-12-30T00:00:00.000Z' }),
];

it('[X107] a table of runs is as wide as the terminal, and shows short ids, ages and what to know', () => {
  expect(runTable(rows, { now: NOW, width: 100, paint: paint(false) })).toEqual([
    '… waiting    00000001  a name that is longer than there is room for  2 min ago  asks you',
    '✗ failed     00000002  review                                        2 min ago  It broke.',
    '✓ completed  00000003  review                                        3 d ago    #nightly',
  ]);
  for (const width of [40, 60, 79]) {
    const lines = runTable(rows, { now: NOW, width, paint: paint(false) });
    expect(lines.map(line => [widthOf(line) <= width, /0000000\d/.test(line)])).toEqual(rows.map(() => [true, true]));
  }
  expect(runTable(rows, { now: NOW, width: 100, paint: paint(true) })[1]).toContain('\u001b[31m✗');
});

it('[X107] an age has one unit', () => {
  const ages = [0, 4999, 5000, 59_999, 60_000, 3_599_999, 3_600_000, 172_799_999, 172_800_000];
  expect(ages.map(describeAge)).toEqual([
    'now',
    'now',
    '5 s ago',
    '59 s ago',
    '1 min ago',
    '59 min ago',
    '1 h ago',
    '47 h ago',
    '2 d ago',
  ]);
});
