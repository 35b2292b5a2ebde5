import {
  canonicalJson,
  createSecretFilter,
  type Json,
  knownSecretOf,
  portableHasher,
  type Resolution,
} from '@signalbox/model';
import { type DecisionKind, redactingCommit } from '@signalbox/runs';
import { describe, expect, it } from 'vitest';
import { manualMachine, memoryRun, someNode, someTask } from '../../test/support/run-builders.ts';
import { findDecision } from '../host/find-decision.ts';
import { createDecisionDesk } from './decision-desk.ts';

const approve: Resolution = { resolutionType: 'approve', rationale: '', actionKind: 'review' };

async function openDesk() {
  const machine = manualMachine();
  const { store, run } = await memoryRun(machine);
  const desk = createDecisionDesk({ commit: store, reader: store, machine });
  const question = (kind: DecisionKind, proposal: Json) => ({
    run,
    node: someNode,
    iteration: 0,
    call: someTask,
    kind,
    proposal,
  });
  const open = async () => (await store.decisions({ run, status: ['open'] })).map(({ decision }) => decision);
  const types = async () => (await store.events(run, 0, 100)).map(({ event }) => event.type);
  return { store, run, desk, question, open, types };
}

const mac = (text: string) => portableHasher(`key ${text}`).slice(7);
const filter = createSecretFilter({
  known: ['open-sesame-42', 'open-sesame-43'].map(secret => knownSecretOf('DOOR', secret, mac)),
  mac,
});

describe('a question', () => {
  it('[A245] has a keyed hash: another secret is another question', async () => {
    const machine = manualMachine();
    const { store, run } = await memoryRun(machine);
    const commit = redactingCommit(store, filter, portableHasher);
    const desk = createDecisionDesk({ commit, reader: store, machine, secrets: { mac } });
    const about = (word: string) => ({ prompt: `Say ${word}?` });
    const asked = async (word: string) => {
      const question = { run, node: someNode, iteration: 0, call: someTask, kind: 'confirmation' as const };
      await desk.ask({ ...question, proposal: about(word) });
      const [found] = await store.decisions({ run, status: ['open'] });
      return found?.decision;
    };
    const first = await asked('open-sesame-42');
    expect(first?.proposal).toEqual(about('[redacted: DOOR]'));
    expect(first?.proposalHash).toBe(`sha256:${mac(canonicalJson(about('open-sesame-42')))}`);
    expect((await asked('open-sesame-42'))?.proposalHash).toBe(first?.proposalHash);
    const other = await asked('open-sesame-43');
    expect(other?.proposal).toEqual(first?.proposal);
    expect(other?.proposalHash).not.toBe(first?.proposalHash);
    expect((await asked('hello'))?.proposalHash).toBe(`sha256:${mac(canonicalJson(about('hello')))}`);
  });

  it('[A19] is asked once, answered once, and delivered once', async () => {
    const { desk, question, open, types } = await openDesk();
    const asked = question('confirmation', { prompt: 'Go on?' });
    expect(await desk.ask(asked)).toBeUndefined();
    expect(await desk.ask(asked)).toBeUndefined();
    const [decision, ...others] = await open();
    expect(others).toEqual([]);
    const answered = await desk.answer(decision?.id as never, { resolution: approve }, 'ada');
    expect(answered).toMatchObject({ ok: true, value: { decision: { status: 'answered', answeredBy: 'ada' } } });
    expect(await desk.ask(asked)).toEqual(approve);
    expect(await desk.ask(asked)).toEqual(approve);
    expect(await types()).toEqual(['run.created', 'decision.asked', 'decision.answered', 'decision.delivered']);
  });

  it('[A19] has one answer: a second one is told the first', async () => {
    const { desk, question, open } = await openDesk();
    await desk.ask(question('confirmation', { prompt: 'Go on?' }));
    const [decision] = await open();
    await desk.answer(decision?.id as never, { resolution: approve }, 'ada');
    const second = await desk.answer(
      decision?.id as never,
      { resolution: { ...approve, resolutionType: 'reject' } },
      'bob',
    );
    expect(second).toMatchObject({
      ok: false,
      error: { code: 'decision/answered', details: { resolution: { resolutionType: 'approve' } } },
    });
  });

  it('[A19] that changed while it waited makes an answer to the old one void', async () => {
    const { desk, question, open } = await openDesk();
    await desk.ask(question('confirmation', { prompt: 'Delete a?' }));
    const shown = (await open())[0];
    await desk.ask(question('confirmation', { prompt: 'Delete everything?' }));
    const id = shown?.id as never;
    expect(await desk.answer(id, { resolution: approve, proposalHash: shown?.proposalHash }, 'ada')).toMatchObject({
      ok: false,
      error: { code: 'decision/stale-proposal' },
    });
    const now = (await open())[0];
    expect(now?.proposal).toEqual({ prompt: 'Delete everything?' });
    expect(await desk.answer(id, { resolution: approve, proposalHash: now?.proposalHash }, 'ada')).toMatchObject({
      ok: true,
    });
  });

  it('[A20] refuses an answer that does not fit, and stays open', async () => {
    const { desk, question, open } = await openDesk();
    const options = [{ id: 'red' }, { id: 'blue' }];
    await desk.ask(question('choice', { prompt: 'Which?', options }));
    const id = (await open())[0]?.id as never;
    const choose = (chosenOptionId: string): Resolution => ({
      ...approve,
      resolutionType: 'choose_option',
      chosenOptionId,
    });
    for (const resolution of [approve, choose('green'), { ...approve, resolutionType: 'modify' as const }]) {
      expect(await desk.answer(id, { resolution }, 'ada')).toMatchObject({
        ok: false,
        error: { code: 'VALIDATION_ERROR' },
      });
    }
    expect(await open()).toHaveLength(1);
    expect(await desk.answer(id, { resolution: choose('blue') }, 'ada')).toMatchObject({ ok: true });
  });

  it('[A20] takes an option of the agent itself for a call, if it was offered', async () => {
    const { desk, question, open } = await openDesk();
    await desk.ask(question('command_exec', { tool: 'shell', input: {}, options: [{ id: 'once' }] }));
    const id = (await open())[0]?.id as never;
    const choose = (chosenOptionId: string): Resolution => ({
      ...approve,
      resolutionType: 'choose_option',
      chosenOptionId,
    });
    expect(await desk.answer(id, { resolution: choose('always') }, 'ada')).toMatchObject({ ok: false });
    expect(await desk.answer(id, { resolution: choose('once') }, 'ada')).toMatchObject({ ok: true });
  });

  it('[A20] takes a value only if it fits the schema of the question', async () => {
    const { desk, question, open } = await openDesk();
    const schema = { type: 'object', properties: { port: { type: 'integer' } }, required: ['port'] };
    await desk.ask(question('human', { prompt: 'Which port?', schema }));
    const id = (await open())[0]?.id as never;
    const wrong = await desk.answer(id, { resolution: { ...approve, value: { port: 'http' } } }, 'ada');
    expect(wrong).toMatchObject({
      ok: false,
      error: { code: 'VALIDATION_ERROR', message: expect.stringContaining('port') },
    });
    expect(await desk.answer(id, { resolution: { ...approve, value: { port: 80 } } }, 'ada')).toMatchObject({
      ok: true,
    });
  });

  it('[A19] [A319] that nobody needs any more is withdrawn, and whoever answers it is told when and why', async () => {
    const { run, desk, question, open, store } = await openDesk();
    await desk.ask(question('confirmation', { prompt: 'Go on?' }));
    const id = (await open())[0]?.id as never;
    await desk.withdraw(run, 'another node' as never);
    expect(await open()).toHaveLength(1);
    await desk.withdraw(run);
    expect(await open()).toEqual([]);
    expect(await desk.answer(id, { resolution: approve }, 'ada')).toMatchObject({
      ok: false,
      error: {
        code: 'decision/withdrawn',
        message: expect.stringMatching(/ was withdrawn at \d{4}-.*: node .* was canceled or left the plan\.$/),
        suggestion: expect.stringContaining('signalbox decisions'),
      },
    });
    expect(await findDecision(store, String(id).slice(0, 20))).toMatchObject({
      value: { decision: { id, status: 'withdrawn' } },
    });
  });

  it('[A20] that was never asked is unknown', async () => {
    const { desk } = await openDesk();
    const id = '018f0000-0000-7000-8000-00000000dead' as never;
    expect(await desk.answer(id, { resolution: approve }, 'ada')).toMatchObject({
      ok: false,
      error: { code: 'decision/unknown' },
    });
  });
});
