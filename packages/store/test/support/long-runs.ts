import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { createIdSource, type EventId, type Json } from '@signalbox/model';
import { type Commit, changeBetween, type EventDraft, type IntervalWrite, type WriteSet } from '@signalbox/runs';
import { fakeClock, seededRng } from '@signalbox/testkit';
import { at, frame, gone, interval, key, newRun, owner, set, startRun, task } from '../../../runs/test/builders.ts';

/** A step of a run as a plan engine would commit it: a frame that starts it, and a commit with its end. */
export type Shape = 'siblings' | 'iterations' | 'growing state' | 'growing list';

/** Commits a run of so many steps. */
export async function longRun(
  store: Commit,
  shape: Shape,
  steps: number,
): Promise<Awaited<ReturnType<typeof startRun>>> {
  const ids = createIdSource(fakeClock(), seededRng(1));
  const writer = await startRun(store, newRun(), ids.mint());
  let list: readonly Json[] = [];

  for (let step = 0; step < steps; step++) {
    const node = key(shape === 'siblings' ? `step-${step}` : 'step');
    const iteration = shape === 'siblings' ? 0 : step;
    const work = task(writer.run, { node, iteration, status: 'running', leaseOwner: owner('me'), startedAt: at() });
    const event = { ts: at() } as const;
    const id = () => ids.mint<EventId>();
    const started: EventDraft[] = [
      {
        ...event,
        id: id(),
        type: 'frame.committed',
        frame: step,
        trigger: { kind: 'task', node },
        mounted: 1,
        unmounted: 0,
        digest: frame(step).digest,
      },
      { ...event, id: id(), type: 'task.started', task: work.id, node, iteration, attempt: 1 },
      { ...event, id: id(), type: 'node.status', node, frame: step, from: 'idle', to: 'running' },
    ];
    const mounts: IntervalWrite[] =
      shape === 'siblings' || step === 0
        ? [interval('node', node, step, set({ type: 'Task', parent: 'root', index: step, props: { title: 'a step' } }))]
        : [];
    await writer.write({
      at: at(),
      frame: frame(step, { trigger: { kind: 'task', node }, mounted: mounts.length > 0 ? [node] : [] }),
      intervals: [...mounts, interval('status', node, step, set('running'))],
      tasks: [work],
      events: started,
    });
    const grown = [...list, { step, text: 'x'.repeat(170) }];
    await writer.write({
      at: at(),
      intervals: [interval('status', node, step + 1, set('succeeded')), ...stateOf(shape, step, list, grown)],
      transitions: transitionsOf(shape, step, list, grown),
      tasks: [{ ...work, status: 'done', result: { ok: true }, handledFrame: step, endedAt: at() }],
      events: [
        {
          ...event,
          id: id(),
          type: 'task.ended',
          task: work.id,
          node,
          iteration,
          attempt: 1,
          outcome: 'done',
          stale: false,
        },
        { ...event, id: id(), type: 'node.status', node, frame: step, from: 'running', to: 'succeeded' },
        { ...event, id: id(), type: 'state.changed', frame: step, index: 0, key: 'i', node, handler: 'onFinished' },
      ],
    });
    list = grown;
  }
  return writer;
}

function stateOf(shape: Shape, step: number, old: readonly Json[], next: readonly Json[]): IntervalWrite[] {
  switch (shape) {
    case 'siblings':
      return [];
    case 'iterations':
      return [
        interval('state', 'i', step + 1, set(step)),
        interval('state', 'flag', step + 1, step % 2 ? gone : set(1)),
      ];
    case 'growing state':
      return [interval('state', `result-${step}`, step + 1, set('x'.repeat(200)))];
    case 'growing list':
      return [interval('state', 'log', step + 1, changeOf(old, next))];
  }
}

function transitionsOf(
  shape: Shape,
  step: number,
  old: readonly Json[],
  next: readonly Json[],
): NonNullable<WriteSet['transitions']> {
  const base = { frame: step, index: 0, trigger: 'step.finished', node: key('step'), handler: 'onFinished', at: at() };
  switch (shape) {
    case 'siblings':
      return [];
    case 'iterations':
      return [{ ...base, key: 'i', change: set(step) }];
    case 'growing state':
      return [{ ...base, key: `result-${step}`, change: set('x'.repeat(200)) }];
    case 'growing list':
      return [{ ...base, key: 'log', change: changeOf(old, next) }];
  }
}

function changeOf(old: readonly Json[], next: readonly Json[]) {
  const change = old.length === 0 ? set(next) : changeBetween(old, next);
  if (change === undefined) throw new Error('nothing changed');
  return change;
}

/** The size of a closed store on disk. */
export function bytesOnDisk(home: string): number {
  return readdirSync(home, { recursive: true, encoding: 'utf8' })
    .map(entry => statSync(path.join(home, entry)))
    .filter(entry => entry.isFile())
    .reduce((sum, entry) => sum + entry.size, 0);
}
