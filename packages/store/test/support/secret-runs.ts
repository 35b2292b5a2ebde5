import { createHmac } from 'node:crypto';
import {
  type ArtifactId,
  createSecretFilter,
  type EventId,
  type Json,
  knownSecretOf,
  type RunId,
  type SecretFilter,
} from '@signalbox/model';
import { changeBetween, type EventDraft } from '@signalbox/runs';
import type { Store, Taken } from '@signalbox/store';
import {
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

/** Put together, so that no file holds it. */
export const SECRET = ['correct', 'horse"battery', 'staple/42'].join('-');

const bytes = Buffer.from(SECRET);
/** How the secret may be written: as it is, quoted, for an address, and encoded. */
export const FORMS: readonly string[] = [
  SECRET,
  JSON.stringify(SECRET).slice(1, -1),
  JSON.stringify(JSON.stringify(SECRET).slice(1, -1)).slice(1, -1),
  encodeURIComponent(SECRET),
  bytes.toString('hex'),
  bytes.toString('base64').slice(0, Math.floor((bytes.length * 8) / 6)),
];

const mac = (text: string): string => createHmac('sha256', 'a key').update(text).digest('hex');
const known = FORMS.map(form => knownSecretOf('DOOR', form, mac));
export const filter: SecretFilter = createSecretFilter({ known, mac, shapes: [] });

/** A run, and a fork of it, with a secret wherever a record can hold one: small and large, escaped, in keys, and put together by patches. */
export async function secretRun(store: Store): Promise<{ readonly run: RunId; readonly fork: RunId }> {
  const writer = await startRun(store, newRun({ name: `run of ${SECRET}`, tags: [SECRET], input: { token: SECRET } }));
  const { run } = writer;
  const large = `${'l'.repeat(70_000)}${SECRET}`;
  const work = task(run, { node: key('work'), status: 'running', effects: 'none', leaseOwner: owner('me') });
  const blob = await store.put([Buffer.from(`${'b'.repeat(70_000)} ${SECRET} in a content`)]);
  if (!blob.ok) throw new Error(blob.error.message);
  const half = Math.floor(SECRET.length / 2);
  const texts = [
    `${'x'.repeat(100)} says ${SECRET.slice(0, half)}`,
    `${'x'.repeat(100)} says ${SECRET}`,
    `${'x'.repeat(100)} says ${SECRET} and more`,
    `${'x'.repeat(90)} says ${SECRET} and more`,
    `${'x'.repeat(90)} says nothing, and more`,
  ];
  let before: Json | undefined;
  for (const [index, text] of texts.entries()) {
    const change = changeBetween(before, text) ?? set(text);
    await writer.write({
      at: at(index),
      frame: frame(index),
      intervals: [
        interval('state', 'text', index, change),
        interval('state', `key ${SECRET}`, index, set(index)),
        interval('node', 'work', index, set({ prompt: `Use ${Buffer.from(SECRET).toString('base64')}`, index })),
        ...(index === 1 ? [interval('state', 'large', 1, set(large))] : []),
      ],
      transitions: [{ frame: index, index: 0, key: 'text', change, trigger: `of ${SECRET}`, at: at(index) }],
      ...(index === 0 && { tasks: [work] }),
      events: [signal(`${index}`, `with ${encodeURIComponent(SECRET)}`)],
    });
    before = text;
  }
  await writer.write({
    at: at(10),
    decisions: [{ kind: 'ask', decision: asked(run, { proposal: { command: `echo ${SECRET}` } }) }],
    tasks: [{ ...work, status: 'done', result: { large, hex: Buffer.from(SECRET).toString('hex') }, handledFrame: 3 }],
  });
  const beside = await store.commit(
    {
      at: at(11),
      artifacts: [
        {
          id: freshId<ArtifactId>(),
          kind: 'report',
          name: 'small',
          digest: hashOf('small'),
          bytes: 9,
          mimeType: 'text/plain',
          content: `it is ${SECRET}`,
          createdAt: at(11),
        },
        {
          id: freshId<ArtifactId>(),
          kind: 'report',
          name: 'large',
          digest: blob.value[0] as never,
          bytes: 70_000,
          mimeType: 'text/plain',
          createdAt: at(11),
        },
      ],
      stream: [
        { task: work.id, index: 0, kind: 'token', payload: SECRET.slice(0, 9), at: at(11) },
        { task: work.id, index: 1, kind: 'token', payload: SECRET.slice(9), at: at(11) },
        { task: work.id, index: 2, kind: 'message', payload: { role: 'assistant', text: SECRET }, at: at(11) },
      ],
      events: [{ id: freshId<EventId>(), ts: at(11), type: 'usage.recorded', call: `call of ${SECRET}` } as EventDraft],
    },
    { run, version: 'any' },
  );
  if (!beside.ok) throw new Error(JSON.stringify(beside.error));
  await writer.write({
    at: at(12),
    run: { kind: 'change', change: { status: 'completed', output: { said: SECRET }, owner: null } },
  });
  const fork = freshId<RunId>();
  const forked = newRun({ name: 'a fork', origin: { kind: 'fork', run, frame: 4, head: hashOf(1) } });
  const made = await store.commit(
    {
      at: at(13),
      run: { kind: 'create', run: forked },
      inherit: { run, frame: 4 },
      frame: frame(0),
      events: [runCreated(forked)],
    },
    { run: fork, epoch: 0, version: 0 },
  );
  if (!made.ok) throw new Error(made.error.message);
  return { run, fork };
}

export function redact(store: Store, run: RunId, dryRun = false): Taken {
  const request = { at: at(20), by: 'anna', why: 'it leaked', eventId: freshId<EventId>(), name: 'DOOR', filter };
  const done = store.takenAway.redact(run, { ...request, dryRun });
  if (!done.ok) throw new Error(done.error.message);
  return done.value;
}

export function collapse(store: Store, run: RunId): Taken {
  const { ranges } = store.retention.weighCollapse(run);
  const request = { at: at(19), by: 'gc', why: 'it is old', eventId: freshId<EventId>() };
  const done = store.takenAway.collapse(run, ranges, request);
  if (!done.ok) throw new Error(done.error.message);
  return done.value;
}
