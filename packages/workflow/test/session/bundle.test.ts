import { type ManifestRecord, nodeHasher, openContentStore } from '@signalbox/journal';
import { canonicalJson, type Digest, type EventId, type Json, type Timestamp } from '@signalbox/model';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { rankResumable } from '../../src/projections/resume-ranking.ts';
import { projectRunContexts } from '../../src/projections/run-context.ts';
import { projectSession } from '../../src/projections/session-view.ts';
import { type Bundle, buildBundle, type Export, encodeBundle, integrityEntries } from '../../src/session/bundle.ts';
import { planImport, renameSession } from '../../src/session/bundle-import.ts';
import { readBundle } from '../../src/session/bundle-reading.ts';
import type { DomainEvent } from '../../src/session/domain-event.ts';
import { historyFault } from '../../src/session/history-fault.ts';
import { guidedId } from '../../src/session/ids.ts';
import { readManifest } from '../../src/session/session-manifest.ts';
import {
  attempt,
  errorOf,
  type GuidedSession,
  guidedSession,
  memoryDisk,
  OTHER_SESSION,
  SESSION,
  value,
  workflow,
  workflowHash,
} from './guided-session.ts';
import { randomSession } from './random-session.ts';

const exportOf = (session: GuidedSession, change: Partial<Export> = {}): Export => ({
  bundleId: guidedId<EventId>('test', 'bundle'),
  exportedAt: '2026-01-01T00:00:00.000Z' as Timestamp,
  producer: { appVersion: '0.1.0' },
  sessionId: session.journal.sessionId,
  events: session.events(),
  manifest: readManifest(session.disk, session.directory, session.events().length),
  snapshotOf: session.snapshot,
  workflowOf: hash => (hash === workflowHash ? workflow : undefined),
  ...change,
});

const bundleOf = (session: GuidedSession, change: Partial<Export> = {}) =>
  value(buildBundle(nodeHasher, exportOf(session, change)));

async function walked(): Promise<GuidedSession> {
  const session = guidedSession();
  const next = await session.advance(await session.start({ context: { a: 1 } }), { notesMarkdown: 'one' });
  await session.advance(next, { outcome: { kind: 'advanced', state: { kind: 'complete' } } });
  return session;
}

type Mutable = { [K in keyof Bundle['session']]: Bundle['session'][K] };

/** A bundle with changed contents whose integrity entries were made anew: what a careful forger hands in. */
function forged(bundle: Bundle, change: (session: Mutable) => object): string {
  const session = { ...bundle.session, ...change({ ...bundle.session }) };
  const integrity = { ...bundle.integrity, entries: integrityEntries(nodeHasher, session) };
  return canonicalJson({ ...bundle, session, integrity });
}

/** The manifest that a journal would have written for events in one segment. */
function attested(events: readonly DomainEvent[]): readonly ManifestRecord[] {
  const bytes = events.map(event => `${canonicalJson(event)}\n`).join('');
  const record = (manifestIndex: number) => ({ v: 1, manifestIndex, sessionId: SESSION }) as const;
  const pins = new Map(
    events.flatMap(event => (event.kind === 'node_created' ? [[event.data.snapshotRef, event]] : [])) as never,
  ) as Map<Digest, DomainEvent>;
  return [
    {
      ...record(0),
      kind: 'segment_closed',
      firstEventIndex: 0,
      lastEventIndex: events.length - 1,
      segmentRelPath: 'events/x.jsonl',
      sha256: nodeHasher(bytes),
      bytes: Buffer.byteLength(bytes),
    },
    ...[...pins].map(([snapshotRef, event], index) => ({
      ...record(index + 1),
      kind: 'snapshot_pinned' as const,
      eventIndex: event.eventIndex,
      snapshotRef,
      createdByEventId: event.eventId,
    })),
  ];
}

const read = (text: string) => errorOf(readBundle(nodeHasher, text));

describe('an export', () => {
  it('[W94] holds the session whole, each part with its digest, and is the same bytes again', async () => {
    const session = await walked();
    const bundle = bundleOf(session);
    expect(bundle.integrity.entries.map(entry => entry.path)).toEqual(
      [
        'session/events',
        'session/manifest',
        `session/pinnedWorkflows/${workflowHash}`,
        ...Object.keys(bundle.session.snapshots).map(ref => `session/snapshots/${ref}`),
      ].sort(),
    );
    for (let time = 0; time < 100; time++) expect(encodeBundle(bundleOf(session))).toBe(encodeBundle(bundle));
    expect(value(readBundle(nodeHasher, encodeBundle(bundle)))).toEqual(bundle);
    expect(encodeBundle(bundle)).not.toMatch(/st\.v1|ack\.v1/);
  });

  it('[W94] without a snapshot or a workflow is refused', async () => {
    const session = await walked();
    const built = (change: Partial<Export>) => errorOf(buildBundle(nodeHasher, exportOf(session, change))).code;
    expect(built({ snapshotOf: () => undefined })).toBe('BUNDLE_MISSING_SNAPSHOT');
    expect(built({ workflowOf: () => undefined })).toBe('BUNDLE_MISSING_PINNED_WORKFLOW');
  });
});

describe('reading a bundle', () => {
  it('[W95] refuses what is none', async () => {
    const bundle = bundleOf(await walked());
    const text = encodeBundle(bundle);
    for (const none of ['', '{', 'null', '[]', '{}', text.slice(0, -1), `${text}x`, '{"bundleSchemaVersion":"1"}']) {
      expect(read(none).code).toBe('BUNDLE_INVALID_FORMAT');
    }
    expect(read(canonicalJson({ ...bundle, token: 'st.v1' })).code).toBe('BUNDLE_INVALID_FORMAT');
    expect(read(forged(bundle, () => ({ events: [] }))).code).toBe('BUNDLE_INVALID_FORMAT');
    expect(
      read(forged(bundle, ({ events }) => ({ events: events.map(event => ({ ...event, kind: 'odd' })) }))).code,
    ).toBe('BUNDLE_INVALID_FORMAT');
  });

  it('[W95] refuses other versions, of the bundle and of what is in it', async () => {
    const bundle = bundleOf(await walked());
    const older = (name: string, field: string) =>
      forged(bundle, session => {
        const part = session[name as 'snapshots'] as unknown as Record<string, object>;
        const changed = Object.entries(part).map(([key, one]) => [key, { ...one, [field]: 2 }] as const);
        return { [name]: Array.isArray(part) ? changed.map(([, one]) => one) : Object.fromEntries(changed) };
      });
    expect(read(canonicalJson({ ...bundle, bundleSchemaVersion: 2 })).code).toBe('BUNDLE_UNSUPPORTED_VERSION');
    for (const name of ['events', 'manifest', 'snapshots']) {
      expect(read(older(name, 'v')).code, name).toBe('BUNDLE_UNSUPPORTED_VERSION');
    }
    expect(read(older('pinnedWorkflows', 'schemaVersion')).code).toBe('BUNDLE_UNSUPPORTED_VERSION');
  });

  it('[W95] refuses what its digests do not say', async () => {
    const bundle = bundleOf(await walked());
    const { session, integrity } = bundle;
    const [first, ...others] = integrity.entries;
    const changed: readonly object[] = [
      { session: { ...session, events: session.events.slice(1) } },
      { session: { ...session, snapshots: {} } },
      { integrity: { ...integrity, entries: others } },
      { integrity: { ...integrity, entries: [first, first, ...others] } },
      { integrity: { ...integrity, entries: [...integrity.entries, { ...first, path: 'session/other' }] } },
      { integrity: { ...integrity, entries: [{ ...first, bytes: 1 }, ...others] } },
    ];
    for (const change of changed) {
      expect(read(canonicalJson({ ...bundle, ...change } as unknown as Json)).code).toBe('BUNDLE_INTEGRITY_FAILED');
    }
  });

  it('[W95] refuses what a forger attested anew: other events, other snapshots, other pins', async () => {
    const bundle = bundleOf(await walked());
    const renotes = ({ events }: Mutable) => ({
      events: events.map(event =>
        event.kind === 'node_output_appended'
          ? { ...event, data: { ...event.data, payload: { payloadKind: 'notes', notesMarkdown: 'two' } } }
          : event,
      ),
    });
    expect(read(forged(bundle, renotes)).code).toBe('BUNDLE_INTEGRITY_FAILED');
    const swap = ({ snapshots }: Mutable) => {
      const files = Object.values(snapshots);
      const refs = Object.keys(snapshots);
      return { snapshots: Object.fromEntries(refs.map((ref, index) => [ref, files[(index + 1) % files.length]])) };
    };
    expect(read(forged(bundle, swap)).code).toBe('BUNDLE_INTEGRITY_FAILED');
    const repin = ({ manifest }: Mutable) => ({
      manifest: manifest.map(record => (record.kind === 'snapshot_pinned' ? { ...record, eventIndex: 0 } : record)),
    });
    expect(read(forged(bundle, repin)).code).toBe('BUNDLE_INTEGRITY_FAILED');
    const unpin = ({ events }: Mutable) => ({ manifest: attested(events).slice(0, 1) });
    expect(read(forged(bundle, unpin)).code).toBe('BUNDLE_INTEGRITY_FAILED');
  });

  it('[W95] refuses another order of events or records', async () => {
    const bundle = bundleOf(await walked());
    expect(read(forged(bundle, ({ events }) => ({ events: events.toReversed() }))).code).toBe(
      'BUNDLE_EVENT_ORDER_INVALID',
    );
    expect(read(forged(bundle, ({ events }) => ({ events: events.slice(1) }))).code).toBe('BUNDLE_EVENT_ORDER_INVALID');
    for (const change of [
      ({ manifest }: Mutable) => manifest.toReversed(),
      ({ manifest }: Mutable) => manifest.slice(1),
      ({ manifest }: Mutable) => manifest.slice(0, 1),
      ({ manifest }: Mutable) => manifest.map(record => ({ ...record, sessionId: OTHER_SESSION })),
      ({ manifest }: Mutable) =>
        manifest.map(record => (record.kind === 'segment_closed' ? { ...record, firstEventIndex: 0 } : record)),
      ({ manifest }: Mutable) =>
        manifest.map(record => (record.kind === 'snapshot_pinned' ? { ...record, eventIndex: 999 } : record)),
    ]) {
      expect(read(forged(bundle, session => ({ manifest: change(session) }))).code).toBe(
        'BUNDLE_MANIFEST_ORDER_INVALID',
      );
    }
  });

  it('[W95] refuses one that lacks a snapshot or a workflow', async () => {
    const bundle = bundleOf(await walked());
    expect(read(forged(bundle, () => ({ snapshots: {} }))).code).toBe('BUNDLE_MISSING_SNAPSHOT');
    expect(read(forged(bundle, () => ({ pinnedWorkflows: {} }))).code).toBe('BUNDLE_MISSING_PINNED_WORKFLOW');
  });

  it('[W95] refuses events that are no history of a session, though each is valid', async () => {
    const bundle = bundleOf(await walked());
    const without = (kind: DomainEvent['kind']) => {
      const events = bundle.session.events
        .filter(event => event.kind !== kind)
        .map((event, eventIndex) => ({ ...event, eventIndex }));
      return forged(bundle, () => ({ events, manifest: attested(events) }));
    };
    expect(
      readBundle(
        nodeHasher,
        forged(bundle, ({ events }) => ({ manifest: attested(events) })),
      ).ok,
    ).toBe(true);
    for (const kind of ['session_created', 'run_started', 'advance_recorded'] as const) {
      expect(read(without(kind)), kind).toMatchObject({ code: 'BUNDLE_INVALID_FORMAT' });
    }
    expect(read(without('session_created')).message).toContain('begins with session_created');
    expect(read(without('advance_recorded')).message).toContain('its cause is not in the session');
  });

  it('[W95] no single changed character gets a changed session through', async () => {
    const bundle = bundleOf(await walked());
    const text = encodeBundle(bundle);
    fc.assert(
      fc.property(fc.nat({ max: text.length - 1 }), fc.integer({ min: 32, max: 126 }), (at, character) => {
        const changed = text.slice(0, at) + String.fromCharCode(character) + text.slice(at + 1);
        const found = readBundle(nodeHasher, changed);
        if (found.ok) expect(found.value.session).toEqual(bundle.session);
      }),
      { numRuns: 150 },
    );
  });
});

/** Stores an import where there was nothing, as a shell would. */
async function imported(bundle: Bundle, sessionId = bundle.session.sessionId): Promise<GuidedSession> {
  const plan = value(planImport(value(readBundle(nodeHasher, encodeBundle(bundle))), sessionId));
  const disk = memoryDisk();
  const store = openContentStore({ disk, hasher: nodeHasher, home: 'home', name: 'pinned', writer: 'test' });
  expect(value(store.putAll(plan.pinnedWorkflows))).toEqual([workflowHash]);
  const session = guidedSession(sessionId, disk);
  for (const part of plan.plans) await session.append({ snapshots: plan.snapshots, plan: part });
  return session;
}

const projections = (session: GuidedSession) => ({
  view: projectSession(session.events(), { health: 'healthy', engineStateOf: session.engineStateOf }),
  contexts: [...projectRunContexts(session.events())],
  resume: rankResumable([{ sessionId: session.journal.sessionId, health: 'healthy', events: session.events() }], {
    text: 'did',
    gitBranch: 'topic',
  }),
});

describe('an import', () => {
  it.each([1, 2, 3, 4, 5])(
    '[W96] of an export is the same session: events, head and projections (seed %i)',
    async seed => {
      const session = await randomSession(seed, 30);
      const arrived = await imported(bundleOf(session));
      expect(arrived.events()).toEqual(session.events());
      expect(value(arrived.journal.read()).head).toBe(value(session.journal.read()).head);
      expect(projections(arrived)).toEqual(projections(session));
      expect(value(readBundle(nodeHasher, encodeBundle(bundleOf(arrived)))).session.events).toEqual(session.events());
    },
  );

  it.each([1, 2, 3])(
    '[W97] under a new id shares no id, is attested anew, and looks the same (seed %i)',
    async seed => {
      const session = await randomSession(seed, 30);
      const arrived = await imported(bundleOf(session), OTHER_SESSION);
      expect(historyFault(arrived.events())).toBeUndefined();
      const ids = (text: string) =>
        new Set(text.match(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g));
      const before = ids(canonicalJson(session.events()));
      const after = ids(canonicalJson(arrived.events()));
      expect(before.isDisjointFrom(after)).toBe(true);
      expect(after.size).toBe(before.size);
      const anonymous = (one: GuidedSession) => {
        const names = new Map<string, number>();
        return canonicalJson(projections(one)).replaceAll(
          /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g,
          found => `#${names.get(found) ?? names.set(found, names.size).size - 1}`,
        );
      };
      expect(anonymous(arrived)).toBe(anonymous(session));
      expect(renameSession(session.events(), OTHER_SESSION)).toEqual(arrived.events());
    },
  );

  it('[W97] of a long session is several appends, none of which splits one of before', async () => {
    const bundle = bundleOf(await walked());
    const [event] = bundle.session.events;
    const [closed] = bundle.session.manifest;
    if (event === undefined || closed?.kind !== 'segment_closed') throw new Error('no events');
    const events = Array.from({ length: 5_003 }, (_, eventIndex) => ({ ...event, eventIndex }));
    const ends = [2_999, 4_998, 5_002];
    const manifest = ends.map((lastEventIndex, manifestIndex) => ({ ...closed, manifestIndex, lastEventIndex }));
    const plan = value(planImport({ ...bundle, session: { ...bundle.session, events, manifest } }, SESSION));
    expect(plan.plans.map(part => part.events.length)).toEqual([4_999, 4]);
  });

  it('[W97] can be walked on', async () => {
    const arrived = await imported(bundleOf(await walked()), OTHER_SESSION);
    const tip = projections(arrived).view.runs[0];
    if (tip?.preferredTip === undefined) throw new Error('no tip');
    await arrived.advance(
      { sessionId: OTHER_SESSION, runId: tip.runId, nodeId: tip.preferredTip },
      { attemptId: attempt(9) },
    );
    expect(historyFault(arrived.events())).toBeUndefined();
  });

  it('[W98] of a salvaged part is marked, can be read, and is not gone on with', async () => {
    const session = await walked();
    const whole = session.events();
    const [, second] = session.disk.list(`${session.directory}/events`).toSorted();
    const segment = session.disk.open(`${session.directory}/events/${second}`, 'append');
    segment.write(new TextEncoder().encode(' '));
    segment.close();
    const damaged = guidedSession(SESSION, session.disk);
    expect(damaged.journal.read()).toMatchObject({ ok: false, error: { code: 'SESSION_CORRUPT' } });
    const { health, defect, view } = value(damaged.journal.salvage());
    expect([health, view.length > 0, view.length < whole.length]).toEqual(['corrupt_tail', true, true]);
    const salvage = { health: 'corrupt_tail', reason: defect?.code ?? '' } as const;
    const manifest = readManifest(session.disk, session.directory, view.length);
    const built = value(
      buildBundle(nodeHasher, { ...exportOf(session, { events: view.events(), manifest }), salvage }),
    );
    const bundle = value(readBundle(nodeHasher, encodeBundle(built)));
    expect(bundle.salvage).toEqual({ health: 'corrupt_tail', reason: 'segment_size_mismatch' });
    expect(bundle.session.events).toEqual(whole.slice(0, view.length));
    const error = errorOf(planImport(bundle, OTHER_SESSION));
    expect(error.code).toBe('BUNDLE_INTEGRITY_FAILED');
    expect(error.message).toContain('salvaged part');
  });

  it('[W98] a manifest is read as far as the events that were found good', async () => {
    const session = await walked();
    const whole = readManifest(session.disk, session.directory, session.events().length);
    expect(whole.map(record => record.manifestIndex)).toEqual(whole.map((_, index) => index));
    const file = session.disk.open(`${session.directory}/manifest.jsonl`, 'append');
    file.write(new TextEncoder().encode('{"v":1,"half'));
    file.close();
    expect(readManifest(session.disk, session.directory, session.events().length)).toEqual(whole);
    expect(readManifest(session.disk, session.directory, 0)).toEqual([]);
    expect(readManifest(session.disk, 'home/sessions/none', 9)).toEqual([]);
  });
});
