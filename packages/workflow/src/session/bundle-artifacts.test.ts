import { nodeHasher } from '@signalbox/journal';
import { canonicalJson, type Digest, type EventId, type Timestamp, utf8Length } from '@signalbox/model';
import { seededRng } from '@signalbox/testkit';
import { describe, expect, it } from 'vitest';
import {
  attempt,
  errorOf,
  guidedSession,
  OTHER_SESSION,
  pendingAt,
  value,
  workflow,
} from '../../test/session/guided-session.ts';
import { projectNodeOutputs } from '../projections/node-outputs.ts';
import { buildBundle, type Export, encodeBundle, integrityEntries } from './bundle.ts';
import { planImport, renameSession } from './bundle-import.ts';
import { readBundle } from './bundle-reading.ts';
import { historyFault } from './history-fault.ts';
import { guidedId, type OutputId } from './ids.ts';
import { keyNames, newKeyring, rotateKeyring } from './keyring.ts';
import { readManifest } from './session-manifest.ts';

const texts = ['{"kind":"a"}', '"größer"'];
const refs = texts.map(text => ({
  sha256: nodeHasher(text),
  contentType: 'application/json',
  byteLength: utf8Length(text),
}));
const textOf = (ref: Digest) => texts[refs.findIndex(({ sha256 }) => sha256 === ref)];

async function exportOf(change: Partial<Export> = {}) {
  const session = guidedSession();
  await session.advance(await session.start(), { artifacts: refs, notesMarkdown: 'one' });
  return buildBundle(nodeHasher, {
    bundleId: guidedId<EventId>('test', 'bundle'),
    exportedAt: '2026-01-01T00:00:00.000Z' as Timestamp,
    producer: { appVersion: '0.1.0' },
    sessionId: session.journal.sessionId,
    events: session.events(),
    manifest: readManifest(session.disk, session.directory, session.events().length),
    snapshotOf: session.snapshot,
    workflowOf: () => workflow,
    artifactOf: textOf,
    ...change,
  });
}

describe('artifacts in a bundle', () => {
  it('[W102] are those that outputs refer to, each with its digest; a bundle without them only names them', async () => {
    const bundle = value(await exportOf());
    expect(bundle.session.artifacts).toEqual(Object.fromEntries(refs.map(({ sha256 }, at) => [sha256, texts[at]])));
    const paths = bundle.integrity.entries.map(({ path }) => path);
    for (const { sha256 } of refs) expect(paths).toContain(`session/artifacts/${sha256}`);
    const read = value(readBundle(nodeHasher, encodeBundle(bundle)));
    expect(value(planImport(read, OTHER_SESSION))).toMatchObject({ namedArtifacts: [] });
    expect(value(planImport(read, OTHER_SESSION)).artifacts.toSorted()).toEqual(texts.toSorted());

    const named = value(await exportOf({ artifactOf: undefined }));
    expect(named.session).not.toHaveProperty('artifacts');
    const plan = value(planImport(value(readBundle(nodeHasher, encodeBundle(named))), OTHER_SESSION));
    expect([plan.artifacts, plan.namedArtifacts.length]).toEqual([[], 2]);
  });

  it('[W102] that are missing, changed or too many are refused', async () => {
    expect(errorOf(await exportOf({ artifactOf: () => undefined })).code).toBe('BUNDLE_INTEGRITY_FAILED');
    const bundle = value(await exportOf());
    const [first, second] = refs.map(({ sha256 }) => sha256);
    const extra = nodeHasher('extra');
    const forgeries: readonly Record<string, unknown>[] = [
      { [first as string]: texts[0] },
      { [first as string]: texts[1], [second as string]: texts[0] },
      { ...bundle.session.artifacts, [extra]: 'extra' },
      { ...bundle.session.artifacts, [first as string]: 7 },
    ];
    for (const artifacts of forgeries) {
      const session = { ...bundle.session, artifacts };
      const integrity = { ...bundle.integrity, entries: integrityEntries(nodeHasher, session) };
      const { code } = errorOf(readBundle(nodeHasher, canonicalJson({ ...bundle, session, integrity } as never)));
      expect(code).toBe(Object.values(artifacts).includes(7) ? 'BUNDLE_INVALID_FORMAT' : 'BUNDLE_INTEGRITY_FAILED');
    }
  });
});

describe('corrections', () => {
  it('[W103] are recorded at the node of what they correct, notes before artifacts, and stay so under other ids', async () => {
    const session = guidedSession();
    const root = await session.start();
    const next = await session.advance(root, { notesMarkdown: 'wrong', artifacts: refs.slice(0, 1) });
    const outputs = projectNodeOutputs(session.events()).get(root.nodeId)?.history ?? [];
    const idOf = (channel: string) =>
      outputs.find(({ outputChannel }) => outputChannel === channel)?.outputId as OutputId;
    const made = {
      outcome: { kind: 'advanced', state: pendingAt('third', 'first', 'second') },
      corrections: [
        {
          corrected: { outputId: idOf('artifact'), nodeId: root.nodeId },
          payload: { payloadKind: 'artifact_ref', ...(refs[1] as (typeof refs)[number]) },
        },
        {
          corrected: { outputId: idOf('recap'), nodeId: root.nodeId },
          payload: { payloadKind: 'notes', notesMarkdown: 'right' },
        },
      ],
    } as const;
    await session.advance(next, made);
    expect(await session.append(session.plan(next, { ...made, attemptId: attempt('again') }))).toBe(true);
    const corrected = session
      .events()
      .flatMap(({ kind, data }) => (kind === 'node_output_appended' && data.supersedesOutputId ? [data] : []));
    expect(corrected.slice(0, 2).map(({ outputChannel }) => outputChannel)).toEqual(['recap', 'artifact']);
    const current = projectNodeOutputs(session.events()).get(root.nodeId)?.current;
    expect(current?.recap?.payload).toEqual({ payloadKind: 'notes', notesMarkdown: 'right' });
    expect(historyFault(session.events())).toBeUndefined();
    expect(historyFault(renameSession(session.events(), OTHER_SESSION))).toBeUndefined();
  });
});

it('[W104] keys have names that say nothing of them and follow them through a rotation', () => {
  const rng = seededRng(3);
  const ring = newKeyring(rng);
  const [name] = keyNames(nodeHasher, ring);
  const rotated = rotateKeyring(ring, rng);
  expect(keyNames(nodeHasher, rotated)).toEqual([expect.not.stringMatching(name as string), name]);
  expect(JSON.stringify(rotated)).not.toContain(name);
});
