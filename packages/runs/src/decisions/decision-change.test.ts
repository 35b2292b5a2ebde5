import type { RunId } from '@signalbox/model';
import { describe, expect, it } from 'vitest';
import { approval, asked, at, freshId, hashOf, rejection } from '../../test/builders.ts';
import type { Decision, DecisionWrite } from './decision.ts';
import { changeDecision } from './decision-change.ts';

const run = freshId<RunId>();
const question = asked(run);
const open: Decision = { ...question, status: 'open' };
const answer = (fields: object = {}): DecisionWrite => ({
  kind: 'answer',
  id: question.id,
  resolution: approval,
  by: 'anna',
  at: at(5),
  ...fields,
});
const answered: Decision = { ...open, status: 'answered', resolution: approval, answeredBy: 'anna', closedAt: at(5) };

describe('a decision', () => {
  it('[L9] is asked once and answered once', () => {
    expect(changeDecision(undefined, { kind: 'ask', decision: question })).toEqual({ ok: true, value: open });
    expect(changeDecision(open, { kind: 'ask', decision: question })).toMatchObject({
      error: { code: 'run/writes-refused' },
    });
    expect(changeDecision(open, answer())).toEqual({ ok: true, value: answered });
  });

  it('[L9] gives a second answer the outcome of the first', () => {
    expect(changeDecision(answered, answer({ resolution: rejection, by: 'ben' }))).toMatchObject({
      error: { code: 'decision/answered', details: { decision: question.id, resolution: approval } },
    });
  });

  it('[L9] takes no answer to something else than what is proposed now', () => {
    const changed = changeDecision(open, {
      kind: 'propose',
      id: question.id,
      proposal: { cmd: 'rm -rf /' },
      proposalHash: hashOf({ cmd: 'rm -rf /' }),
    });
    if (!changed.ok) throw new Error(changed.error.message);
    expect(changeDecision(changed.value, answer({ proposalHash: question.proposalHash }))).toMatchObject({
      error: { code: 'decision/stale-proposal', details: { proposalHash: hashOf({ cmd: 'rm -rf /' }) } },
    });
    expect(changeDecision(changed.value, answer({ proposalHash: hashOf({ cmd: 'rm -rf /' }) })).ok).toBe(true);
    expect(changeDecision(changed.value, answer()).ok).toBe(true);
  });

  it('[L9] that was withdrawn takes no answer, and an unknown one neither', () => {
    const withdrawn = changeDecision(open, { kind: 'withdraw', id: question.id, at: at(2) });
    expect(withdrawn).toEqual({ ok: true, value: { ...open, status: 'withdrawn', closedAt: at(2) } });
    expect(withdrawn.ok && changeDecision(withdrawn.value, answer())).toMatchObject({
      error: { code: 'decision/withdrawn' },
    });
    expect(changeDecision(undefined, answer())).toMatchObject({ error: { code: 'decision/unknown' } });
  });

  it('[L9] is delivered after it was answered, and keeps the first time', () => {
    const deliver = (second: number): DecisionWrite => ({ kind: 'deliver', id: question.id, at: at(second) });
    expect(changeDecision(open, deliver(6))).toMatchObject({ error: { code: 'run/writes-refused' } });
    const delivered: Decision = { ...answered, deliveredAt: at(6) };
    expect(changeDecision(answered, deliver(6))).toEqual({ ok: true, value: delivered });
    expect(changeDecision(delivered, deliver(7))).toEqual({ ok: true, value: delivered });
  });
});
