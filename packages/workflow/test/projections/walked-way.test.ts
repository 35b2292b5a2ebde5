import { nodeHasher } from '@signalbox/journal';
import { describe, expect, it } from 'vitest';
import { projectGaps } from '../../src/projections/gaps.ts';
import { projectNodeOutputs } from '../../src/projections/node-outputs.ts';
import { projectRunDags } from '../../src/projections/run-dag.ts';
import { answersAt, latestRecap, pathBeyond, wayBack } from '../../src/projections/walked-way.ts';
import { planCheckpoint } from '../../src/session/checkpoint-plan.ts';
import { type DomainEvent, dedupeKeyOf } from '../../src/session/domain-event.ts';
import type { Place } from '../../src/session/event-draft.ts';
import { planGapAnswer } from '../../src/session/gap-answer-plan.ts';
import { guidedId, type OutputId } from '../../src/session/ids.ts';
import { attempt, type GuidedSession, guidedSession, pendingAt, SESSION, value } from '../session/guided-session.ts';

const artifact = (name: string) => ({ sha256: nodeHasher(name), contentType: 'text/plain', byteLength: 1 });
const to = (step: string) => ({ outcome: { kind: 'advanced', state: pendingAt(step) } }) as const;

function ways(session: GuidedSession, place: Place, events: readonly DomainEvent[] = session.events()) {
  const dag = projectRunDags(events).get(place.runId);
  if (dag === undefined) throw new Error('no run');
  const outputs = projectNodeOutputs(events);
  const back = [...wayBack(dag, outputs, place.nodeId, session.engineStateOf)];
  return {
    to: back.toReversed().map(({ key, notes, artifacts }) => [key, notes, artifacts.length]),
    beyond: pathBeyond(dag, place.nodeId).map(({ nodeId }) => nodeId),
    recap: latestRecap(dag, outputs),
  };
}

describe('the way to a place', () => {
  it('[W101] has each step once, oldest first, with what was put out when it was taken', async () => {
    const session = guidedSession();
    const first = await session.start();
    const second = await session.advance(first, {
      ...to('second'),
      notesMarkdown: 'one',
      artifacts: [artifact('a'), artifact('b')],
    });
    const third = await session.advance(second, to('third'));
    expect(ways(session, third)).toEqual({
      to: [
        ['first', 'one', 2],
        ['second', undefined, 0],
      ],
      beyond: [third.nodeId],
      recap: 'one',
    });
    expect(ways(session, first)).toMatchObject({ to: [], beyond: [first.nodeId, second.nodeId, third.nodeId] });
  });

  it('[W101] holds nothing of other branches from the same place', async () => {
    const session = guidedSession();
    const root = await session.start();
    const left = await session.advance(root, {
      ...to('l'),
      attemptId: attempt('l'),
      notesMarkdown: 'left',
      artifacts: [artifact('l')],
    });
    const right = await session.advance(root, { ...to('r'), attemptId: attempt('r'), notesMarkdown: 'right' });
    expect([ways(session, left).to, ways(session, right).to]).toEqual([
      [['first', 'left', 1]],
      [['first', 'right', 0]],
    ]);
    expect(ways(session, right).recap).toBe('right');
    const further = await session.advance(left, { ...to('ll'), notesMarkdown: 'left again' });
    expect([ways(session, left).recap, ways(session, left).beyond, ways(session, right).beyond]).toEqual([
      'left again',
      [left.nodeId, further.nodeId],
      [],
    ]);
  });

  it('[W101] a checkpoint is no step, and a way goes on through it', async () => {
    const session = guidedSession();
    const root = await session.start();
    const mark = value(planCheckpoint(session.node(root), { attemptId: attempt('m'), notesMarkdown: 'mark' }));
    await session.append(mark);
    const marked = { ...root, nodeId: mark.checkpointNodeId };
    expect(ways(session, marked)).toEqual({ to: [], beyond: [marked.nodeId], recap: 'mark' });
    const next = await session.advance(marked, { ...to('second'), notesMarkdown: 'done' });
    expect(ways(session, next).to).toEqual([['first', 'done', 0]]);
  });

  it('[W101] a correction stands in the place of what it corrects', async () => {
    const session = guidedSession();
    const root = await session.start();
    const next = await session.advance(root, { ...to('second'), notesMarkdown: 'wrong' });
    const events = session.events();
    const wrong = events.find(event => event.kind === 'node_output_appended');
    if (wrong?.kind !== 'node_output_appended') throw new Error('no output');
    const data = {
      ...wrong.data,
      outputId: guidedId<OutputId>('test', 'right'),
      supersedesOutputId: wrong.data.outputId,
      payload: { payloadKind: 'notes', notesMarkdown: 'right' },
    } as const;
    const right = { ...wrong, eventIndex: events.length, data };
    const corrected = [...events, { ...right, dedupeKey: dedupeKeyOf(right) }];
    expect(ways(session, next, corrected).to).toEqual([['first', 'right', 0]]);
  });

  it('[W101] what the person answered at a place is told there', async () => {
    const session = guidedSession();
    const root = await session.start();
    const reason = { category: 'user_only_dependency', detail: 'needs_user_approval' } as const;
    const blockers = [
      { code: 'USER_ONLY_DEPENDENCY', pointer: { kind: 'workflow_step', stepId: 'first' }, message: 'm' },
    ] as const;
    await session.advance(root, { outcome: { kind: 'blocked', blockers }, gaps: [{ reason, summary: 'Approve.' }] });
    const [gap] = projectGaps(session.events());
    if (gap === undefined) throw new Error('no gap');
    expect(answersAt(projectGaps(session.events()), root.nodeId)).toEqual([]);
    const plan = value(planGapAnswer(nodeHasher, SESSION, session.events(), gap.gapId, { kind: 'denied' }));
    if (plan.kind === 'answer') await session.append(plan);
    const gaps = projectGaps(session.events());
    expect(answersAt(gaps, root.nodeId)).toEqual([
      { reason: 'needs_user_approval', asked: gap.summary, answer: 'denied' },
    ]);
    expect(answersAt(gaps, gap.gapId as never)).toEqual([]);
  });
});
