import type { DemoStep, DoctorReport, VerifyReport } from '@signalbox/app';
import { describe, expect, it } from 'vitest';
import { memoryTerminal } from '../test/memory-terminal.ts';
import { describeStep } from './demo/demo-scenes.ts';
import { describeDoctor } from './doctor-command.ts';
import { paintOf } from './terminal.ts';
import { describeReport } from './verify-command.ts';

const paint = paintOf(memoryTerminal());
const head = `sha256:${'ab'.repeat(32)}` as VerifyReport['head'];
const healthy: VerifyReport = { ok: true, health: 'healthy', events: 9, head, segments: 3, pins: 2, notes: [] };
const damaged: VerifyReport = {
  ...healthy,
  ok: false,
  health: 'corrupt_tail',
  sessionId: '01900000-0000-7000-8000-000000000001' as NonNullable<VerifyReport['sessionId']>,
  defect: {
    code: 'event_invalid',
    file: 'events/00000009-00000011.jsonl',
    line: 2,
    reason: 'Unrecognized key: "\u001b[2J"',
    meaning: 'An event does not fit its schema.',
  },
  notes: ['Something else.'],
};

describe('the report of a journal', () => {
  it('that is healthy says what it holds', () => {
    expect(describeReport(healthy, paint).split('\n')).toEqual([
      '✓ healthy',
      '  events    9',
      '  segments  3',
      '  pins      2',
      `  head      ${head}`,
    ]);
  });

  it('that is damaged names the first defect, where it is and what it means', () => {
    expect(describeReport(damaged, paint).split('\n')).toEqual([
      '✗ corrupt_tail',
      '  session   01900000-0000-7000-8000-000000000001',
      '  events    9 valid, from the start',
      '  segments  3',
      '  pins      2',
      `  head      ${head}`,
      '',
      '  event_invalid',
      '  where     events/00000009-00000011.jsonl line 2',
      '  what      Unrecognized key: "\\u{1b}[2J"',
      '  meaning   An event does not fit its schema.',
      '',
      '  note      Something else.',
    ]);
  });

  it('that is whole but another one is not called healthy', () => {
    const defect = { code: 'head_mismatch', file: 'manifest.jsonl', reason: 'a', meaning: 'b' } as const;
    const [title, events] = describeReport({ ...healthy, ok: false, defect }, paint).split('\n');
    expect([title, events]).toEqual(['✗ not the journal that was expected', '  events    9']);
  });
});

it('the report of the doctor has a mark, what was found and advice for each check', () => {
  const report: DoctorReport = {
    ok: false,
    dataDirectory: 'data',
    checks: [
      { name: 'node', status: 'ok', found: '24.21.0' },
      { name: 'git', status: 'warn', found: 'not found', advice: 'Install git.' },
      { name: 'data directory', status: 'fail', found: 'gone', advice: 'Make it.' },
    ],
  };
  expect(describeDoctor(report, paint).split('\n')).toEqual([
    '✓ node            24.21.0',
    '! git             not found',
    '                  Install git.',
    '✗ data directory  gone',
    '                  Make it.',
    '',
    'Signalbox cannot work reliably here yet.',
  ]);
  expect(describeDoctor({ ...report, ok: true }, paint)).toMatch(/Signalbox can work here\.$/);
});

it('a step of the demo shows what was done, what the verifier says, and what is claimed', () => {
  const step: DemoStep = {
    step: 4,
    title: 'Somebody lies',
    ok: false,
    lines: [
      { kind: 'text', text: 'a byte was changed' },
      { kind: 'verdict', report: { ...healthy, notes: ['A tail.'] } },
      { kind: 'verdict', report: damaged, expectHead: head },
      { kind: 'claim', text: 'it was found', holds: true },
      { kind: 'claim', text: 'it was mended', holds: false },
    ],
  };
  expect(describeStep(step, paint).split('\n')).toEqual([
    '4. Somebody lies',
    '     a byte was changed',
    '   $ verify: ✓ healthy, 9 events, 3 segments, 2 pins, head sha256:abababababab…',
    '     note A tail.',
    '   $ verify --expect-head sha256:abababababab…: ✗ event_invalid in events/00000009-00000011.jsonl',
    '     An event does not fit its schema.',
    '     note Something else.',
    '   ✓ it was found',
    '   ✗ it was mended',
  ]);
});
