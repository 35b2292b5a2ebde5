import type { ArtifactId, EventId, Json, RunId } from '@signalbox/model';
import { type Change, changeBetween, type IntervalWrite, type TaskId, type WriteSet } from '@signalbox/runs';
import type { Store } from '@signalbox/store';
import { seededRng } from '@signalbox/testkit';
import {
  approval,
  asked,
  at,
  frame,
  freshId,
  hashOf,
  interval,
  key,
  newRun,
  owner,
  runCreated,
  set,
  signal,
  startRun,
  task,
} from '../../../runs/test/builders.ts';

/**
 * Writes runs that use every feature: frames, values that are set, patched and removed, tasks that fail and succeed, decisions,
 * artifacts with versions, usage, streams, large values and contents in blobs, commits from outside, forks, sub-plans, and runs that
 * are kept and collapsed. The same seed writes the same run, but for ids.
 */
export async function variedRun(store: Store, seed: number): Promise<RunId> {
  const rng = seededRng(seed);
  const isLarge = seed % 3 === 0;
  const writer = await startRun(
    store,
    newRun({
      name: `run ${seed}`,
      tags: ['a', `seed-${seed}`],
      input: isLarge ? 'i'.repeat(70_000) : { seed },
      correlationId: `correlated ${seed}`,
      idempotencyKey: `key of ${freshId()}`,
      owner: owner('me'),
    }),
  );
  let list: readonly Json[] = Array.from({ length: 5 + rng.below(20) }, (_, index) => `item ${index}`);
  const steps = 3 + rng.below(4);
  for (let step = 0; step < steps; step++) {
    const before = list;
    list = [...list.slice(rng.below(2)), { step, note: 'x'.repeat(rng.below(300)) }];
    await writer.write(beginOf(writer.run, step, isLarge));
    await writer.write(
      endOf(writer.run, step, isLarge, step === 0 ? set(list) : (changeBetween(before, list) ?? set(list))),
    );
    await fromOutside(store, writer.run, step);
  }
  await writer.write({
    at: at(50),
    run: {
      kind: 'change',
      change: {
        status: 'completed',
        output: isLarge ? 'o'.repeat(70_000) : { done: seed },
        phase: 'DONE',
        owner: null,
      },
    },
    events: [signal('ended')],
  });
  if (seed % 2 === 0) await keptAndCollapsed(store, writer.run, steps);
  if (seed % 4 === 1) await subPlanOf(store, writer.run);
  else await forkOf(store, writer.run, steps - 1);
  if (isLarge) await largeArtifact(store, writer.run, seed);
  return writer.run;
}

/** A content that is too large for its record. */
async function largeArtifact(store: Store, run: RunId, seed: number): Promise<void> {
  const content = Buffer.from(`${seed} `.repeat(40_000));
  const put = await store.put([content]);
  if (!put.ok) throw new Error(put.error.message);
  const [digest] = put.value;
  if (digest === undefined) throw new Error('nothing was put');
  const facts = { kind: 'report', name: 'large', mimeType: 'text/plain', createdAt: at(55) } as const;
  await outside(store, run, {
    at: at(55),
    artifacts: [
      {
        ...facts,
        id: freshId<ArtifactId>(),
        digest,
        bytes: content.length,
        diff: { filesChanged: ['a.ts'], summary: 'one file' },
      },
    ],
  });
}

async function subPlanOf(store: Store, parent: RunId): Promise<void> {
  const origin = { kind: 'sub-plan', run: parent, node: key('step-0'), iteration: 0 } as const;
  const { run, write } = await startRun(store, newRun({ name: 'below', origin }));
  await write({ at: at(4), frame: frame(0), intervals: [interval('state', 'below', 0, set(run))] });
  await write({ at: at(5), run: { kind: 'change', change: { status: 'completed', output: run } } });
}

function workOf(run: RunId, step: number) {
  return task(run, {
    node: key(`step-${step}`),
    status: 'running',
    effects: 'external',
    leaseOwner: owner('me'),
    leaseExpiresAt: at(90),
    heartbeatAt: at(3),
    startedAt: at(2),
  });
}

function beginOf(run: RunId, step: number, isLarge: boolean): WriteSet {
  const node = `step-${step}`;
  const work = workOf(run, step);
  const mounted: IntervalWrite[] = [
    interval('node', node, step, set({ type: 'Task', props: { text: isLarge ? 'p'.repeat(70_000 + step) : 'short' } })),
    interval('status', node, step, set({ status: 'running' })),
  ];
  return {
    at: at(step),
    frame: frame(step, { trigger: { kind: 'task', node: key(node) }, mounted: [key(node)] }),
    intervals: mounted,
    tasks: [work],
    decisions: [{ kind: 'ask', decision: asked(run, { node: key(node), proposal: { cmd: `make ${step}` } }) }],
    events: [signal(`began ${step}`)],
  };
}

function endOf(run: RunId, step: number, isLarge: boolean, change: Change): WriteSet {
  const node = key(`step-${step}`);
  const work = workOf(run, step);
  const lastError = { class: 'retryable', code: 'exit', message: 'it failed' } as const;
  const ended =
    step % 2 === 0
      ? {
          ...work,
          status: 'done' as const,
          result: isLarge ? 'r'.repeat(70_000 + step) : { ok: true },
          handledFrame: step,
        }
      : { ...work, status: 'error' as const, blockReason: 'rate_limit', nextRetryAt: at(80), retryCount: 1, lastError };
  return {
    at: at(step),
    intervals: [
      interval('state', 'list', step + 1, change),
      interval('state', 'flag', step + 1, step % 2 ? { kind: 'gone' } : set(step)),
      interval('status', node, step + 1, set({ status: 'succeeded' })),
    ],
    transitions: [
      {
        frame: step,
        index: 0,
        key: 'list',
        change,
        trigger: 'step.finished',
        node,
        handler: 'onFinished',
        at: at(step),
      },
    ],
    tasks: [{ ...ended, endedAt: at(step) }],
    events: [signal(`ended ${step}`)],
  };
}

async function fromOutside(store: Store, run: RunId, step: number): Promise<void> {
  const node = key(`step-${step}`);
  const work = workOf(run, step).id;
  const question = asked(run, { node, proposal: { cmd: `make ${step}` } });
  const content = `content ${step}`;
  const writes: readonly WriteSet[] = [
    {
      at: at(step),
      decisions: [
        { kind: 'answer', id: question.id, resolution: approval, by: 'anna', at: at(step) },
        ...(step % 2 === 0 ? [{ kind: 'deliver', id: question.id, at: at(step) } as const] : []),
      ],
      events: [signal('answered')],
    },
    {
      at: at(step),
      artifacts: [
        {
          id: freshId<ArtifactId>(),
          node,
          task: work,
          kind: 'report',
          name: `report ${step}`,
          digest: hashOf(content),
          bytes: content.length,
          mimeType: 'text/plain',
          content,
          createdAt: at(step),
          key: 'report',
          alt: 'a report',
          workstream: 'docs',
          status: 'draft',
          provenance: { by: 'anna', step },
        },
      ],
      usage: [
        {
          call: `call ${step}`,
          node,
          task: work,
          provider: 'p',
          model: 'm',
          inputTokens: step,
          outputTokens: 2,
          cachedTokens: 1,
          toolCalls: 1,
          costMicroUsd: 3,
          wallMs: 4,
          at: at(step),
        },
      ],
      stream: [
        { task: work, index: 0, kind: 'token', payload: 'hel', at: at(step) },
        { task: work, index: 1, kind: 'message', payload: { role: 'assistant', text: 'hello' }, at: at(step) },
        { task: work, index: 2, kind: 'tool_start', payload: { tool: 'read' }, at: at(step) },
      ],
    },
  ];
  for (const one of writes) await outside(store, run, one);
}

async function keptAndCollapsed(store: Store, run: RunId, frames: number): Promise<void> {
  await outside(store, run, { at: at(51), retention: { kept: { at: at(51), by: 'anna' } }, events: [signal('kept')] });
  const request = { at: at(52), by: 'gc', why: 'it is old', eventId: freshId<EventId>() };
  const done = store.takenAway.collapse(run, [{ from: 1, to: frames - 2 }], request);
  if (!done.ok) throw new Error(done.error.message);
}

async function forkOf(store: Store, parent: RunId, at0: number): Promise<void> {
  const id = freshId<RunId>();
  const run = newRun({ name: 'a fork', origin: { kind: 'fork', run: parent, frame: at0, head: hashOf(1) } });
  const committed = await store.commit(
    {
      at: at(60),
      run: { kind: 'create', run },
      inherit: { run: parent, frame: at0 },
      frame: frame(0),
      intervals: [interval('state', 'flag', 0, set('forked'))],
      events: [runCreated(run)],
    },
    { run: id, epoch: 0, version: 0 },
  );
  if (!committed.ok) throw new Error(committed.error.message);
}

async function outside(store: Store, run: RunId, writes: WriteSet): Promise<void> {
  const committed = await store.commit(writes, { run, version: 'any' });
  if (!committed.ok) throw new Error(committed.error.message);
}

/** Everything that a reader answers about every run, to be compared as a whole. */
export async function everyAnswer(store: Store): Promise<Json> {
  const answers: Record<string, unknown> = {};
  const { items } = await store.runs({ limit: 1000 });
  answers.runs = items;
  for (const { id, frames } of items) {
    const tasks = await store.tasks(id);
    const values: Record<string, unknown> = {};
    for (let at = 0; at <= frames; at++) {
      for (const space of ['node', 'status', 'state'] as const) {
        values[`${space} ${at}`] = await store.at(id, space, at).then(
          found => [...found],
          cause => String(cause),
        );
      }
    }
    answers[id] = {
      run: await store.run(id),
      children: await store.children(id),
      tasks,
      decisions: await store.decisions({ run: id }),
      frames: await store.frames(id, 0, 1000),
      transitions: await store.transitions(id, { limit: 1000 }),
      artifacts: await store.artifacts(id),
      usage: await store.usageOfTree(id),
      events: await store.events(id, 0, 10_000),
      records: await store.records(id, 0, 10_000),
      streams: await Promise.all(tasks.map(({ id: task }) => store.stream(id, task as TaskId, 0, 1000))),
      values,
    };
  }
  return JSON.parse(JSON.stringify(answers)) as Json;
}
