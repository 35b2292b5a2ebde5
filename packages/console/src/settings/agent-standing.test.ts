import { timestamp, type WireAgent } from '@signalbox/model';
import { describe, expect, it } from 'vitest';
import { agentAsks, agentReports, agentStanding } from './agent-standing.ts';

const at = timestamp.parse('2026-11-01T00:00:00.000Z');
const agent = (more: Partial<WireAgent> = {}): WireAgent => ({
  ...{ id: 'a', title: 'A', vendor: 'any', isTried: true, quirks: [], reports: { usage: true, cost: false } },
  asking: { kind: 'settings' },
  ...more,
});
const installed = { version: '1', from: 'data directory' } as const;
const word = (more: Partial<WireAgent>) => {
  const standing = agentStanding(agent(more));
  return [standing.signal, standing.word];
};

describe('the state of an agent', () => {
  it('[K94] is told apart by lamp and word', () => {
    const check = (status: 'ok' | 'warn' | 'fail') => ({
      status,
      found: 'It was found.',
      advice: 'Do this.',
      checkedAt: at,
    });
    expect([
      word({}),
      word({ installed }),
      word({ installed: { ...installed, from: 'PATH' } }),
      word({ installed: { ...installed, from: 'command' } }),
      word({ installed, check: check('ok') }),
      word({ installed, check: check('warn') }),
      word({ installed, missing: 'No key.' }),
      word({ installed, check: check('fail') }),
      word({ job: { kind: 'add', by: 'ada', startedAt: at } }),
      word({ installed, job: { kind: 'check', by: 'ada', startedAt: at } }),
      word({ problem: { kind: 'add', at, code: 'x', message: 'npm failed.', suggestion: '' } }),
    ]).toEqual([
      ['idle', 'Not installed'],
      ['next', 'Installed'],
      ['next', 'On the PATH'],
      ['next', 'Command found'],
      ['done', 'Installed, checked'],
      ['held', 'Installed, no key'],
      ['held', 'Installed, no key'],
      ['failed', 'Broken'],
      ['working', 'Installing'],
      ['working', 'Checking'],
      ['failed', 'Installation failed'],
    ]);
    expect(agentStanding(agent({ installed, check: check('fail') }))).toMatchObject({
      sentence: 'It was found.',
      advice: 'Do this.',
    });
  });

  it('[K94] says how it is made to ask and what it reports', () => {
    expect([
      agentAsks({ asking: { kind: 'mode', mode: 'plan' } }),
      agentAsks({ asking: { kind: 'option', option: 'allow_all', value: 'off' } }),
      agentAsks({ asking: { kind: 'settings' } }),
    ]).toEqual(['mode “plan”', 'option allow_all: “off”', 'our settings']);
    expect([
      agentReports({ reports: { usage: true, cost: true } }),
      agentReports({ reports: { usage: true, cost: false } }),
      agentReports({ reports: { usage: false, cost: false } }),
    ]).toEqual(['tokens and cost', 'tokens', 'nothing']);
  });
});
