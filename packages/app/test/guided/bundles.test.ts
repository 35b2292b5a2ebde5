import { appendFileSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { canonicalJson, type Digest, digestHex, type JsonObject } from '@signalbox/model';
import { fakeClock, startChild } from '@signalbox/testkit';
import { artifactRefsOf, type DomainEvent, executionSnapshotFileV1, projectSession } from '@signalbox/workflow';
import { describe, expect, it } from 'vitest';
import { childScript } from '../../../../test/child-script.ts';
import { filledIn } from '../../../guided/test/support/agent-calls.ts';
import { dataDirectory, errorOf, eventsOf, filesUnder, value, walk } from '../../../guided/test/support/guided-walk.ts';
import { exportSession, type GuidedTools, importSession, type StepAnswer } from '../../src/guided/index.ts';
import { machineOf, openTools } from '../support/open-tools.ts';

const clock = fakeClock(Date.parse('2026-03-01T10:00:00Z'));
const exported = (dataDirectory: string, sessionId: StepAnswer['sessionId']) =>
  exportSession({ dataDirectory, clock, appVersion: '0.1.0' }, sessionId);
const imported = (dataDirectory: string, text: string) =>
  importSession({ dataDirectory, clock, ids: machineOf(1).ids }, text);

/** Sessions that went different ways: to the end, cut short, forked, marked, with large artifacts. */
const walks: Readonly<Record<string, (tools: GuidedTools) => Promise<StepAnswer>>> = {
  'to its end': async tools => (await walk(tools, value(await tools.start({ workflowId: 'wr.code-review' })))).last,
  'to the middle, with loops': async tools => {
    const start = value(await tools.start({ workflowId: 'wr.research', context: { about: 'caches' } }));
    return (await walk(tools, start, { maxSteps: 60 })).answers[3] ?? start;
  },
  'a fork and a checkpoint': async tools => {
    const start = value(await tools.start({ workflowId: 'wr.bug-investigation' }));
    const left = value(await tools.continue(filledIn(start)));
    const { checkpointToken = '' } = value(await tools.continue({ stateToken: left.stateToken }));
    value(await tools.checkpoint({ checkpointToken, notesMarkdown: 'a mark' }));
    const again = value(await tools.continue({ stateToken: start.stateToken }));
    return value(await tools.continue(filledIn(again, { branch: 2 })));
  },
  'artifacts over 64 kB': async tools => {
    const start = value(await tools.start({ workflowId: 'wr.research' }));
    const call = filledIn(start);
    const artifacts = [...(call.output?.artifacts ?? []), { kind: 'table', rows: 'x'.repeat(100_000) }, { small: 1 }];
    return value(await tools.continue({ ...call, output: { ...call.output, artifacts } }));
  },
};

/** A session as people and resuming agents see it. */
function seen(directory: string, events: readonly DomainEvent[]): JsonObject {
  const view = projectSession(events, {
    health: 'healthy',
    engineStateOf: ref =>
      executionSnapshotFileV1.parse(
        JSON.parse(readFileSync(path.join(directory, 'snapshots', `${digestHex(ref)}.json`), 'utf8')),
      ).enginePayload.engineState,
  });
  return JSON.parse(JSON.stringify(view)) as JsonObject;
}

/** With the first id that occurs as #0, the next as #1, and so on. */
function anonymous(text: string): string {
  const names = new Map<string, number>();
  return text.replaceAll(
    /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g,
    id => `#${names.get(id) ?? names.set(id, names.size).size - 1}`,
  );
}

const blobOf = (directory: string, ref: Digest) =>
  path.join(directory, 'blobs', digestHex(ref).slice(0, 2), digestHex(ref));

describe('bundles of guided sessions', () => {
  it.each(Object.entries(walks))('[G22, G23] go elsewhere and are gone on with: %s', async (_name, make) => {
    const here = dataDirectory();
    const tools = openTools(here);
    const last = await make(tools);
    const bundle = value(exported(here, last.sessionId));
    expect(value(exported(here, last.sessionId)).text).toBe(bundle.text);
    expect(bundle.text).not.toMatch(/(st|ack|chk)\.v1\./);

    const there = dataDirectory();
    const arrived = value(await imported(there, bundle.text));
    expect(arrived).toMatchObject({ sessionId: last.sessionId, isNew: false, events: bundle.events });
    const events = eventsOf(here, last.sessionId);
    expect(eventsOf(there, last.sessionId)).toEqual(events);
    expect(seen(there, events)).toEqual(seen(here, events));
    for (const ref of artifactRefsOf(events)) expect(existsSync(blobOf(there, ref))).toBe(true);
    expect(readdirSync(there).filter(name => name.startsWith('.'))).toEqual([]);

    const elsewhere = openTools(there, { machine: machineOf(2) });
    expect(errorOf(await elsewhere.continue({ stateToken: last.stateToken })).code).toBe('TOKEN_BAD_SIGNATURE');
    // A search finds it in the same way.
    for (const query of [{}, { query: 'evidence' }, { query: last.workflow.workflowId }]) {
      const found = async (from: GuidedTools) =>
        value(await from.resume(query)).candidates.map(({ stateToken: _, nextCall: __, ...rest }) => rest);
      expect(await found(elsewhere)).toEqual(await found(tools));
    }
    const [candidate] = value(await elsewhere.resume({})).candidates;
    const shown = value(await elsewhere.continue(candidate?.nextCall.arguments as never));
    expect((await walk(elsewhere, shown)).last.isComplete).toBe(true);

    const copy = value(await imported(here, bundle.text));
    expect(copy).toMatchObject({ exportedAs: last.sessionId, isNew: true, events: bundle.events });
    const renamed = eventsOf(here, copy.sessionId);
    expect(eventsOf(here, last.sessionId)).toEqual(events);
    expect(anonymous(canonicalJson(seen(here, renamed)))).toBe(anonymous(canonicalJson(seen(here, events))));
    const found = value(await openTools(here).resume({})).candidates.find(each => each.sessionId === copy.sessionId);
    const again = value(await tools.continue(found?.nextCall.arguments as never));
    expect((await walk(tools, again)).last.isComplete).toBe(true);
  });

  it('[G24] that are damaged, forged or of another version are refused, and no session appears', async () => {
    const here = dataDirectory();
    const last = await walks['artifacts over 64 kB']?.(openTools(here));
    if (last === undefined) throw new Error('no walk');
    const { text } = value(exported(here, last.sessionId));
    const bundle = JSON.parse(text) as JsonObject & { session: JsonObject };
    const without = (part: string) => canonicalJson({ ...bundle, session: { ...bundle.session, [part]: {} } });
    const { artifacts: _, ...names } = bundle.session;
    const entries = (bundle.integrity as { entries: { path: string }[] }).entries;
    const named = {
      ...bundle,
      session: names,
      integrity: {
        ...(bundle.integrity as JsonObject),
        entries: entries.filter(entry => !entry.path.startsWith('session/artifacts/')),
      },
    };
    const cases: readonly (readonly [string, string])[] = [
      ['', 'BUNDLE_INVALID_FORMAT'],
      [text.slice(0, -2), 'BUNDLE_INVALID_FORMAT'],
      ['{"bundleSchemaVersion":2}', 'BUNDLE_UNSUPPORTED_VERSION'],
      [text.replace('xxxx', 'xxxy'), 'BUNDLE_INTEGRITY_FAILED'],
      [without('artifacts'), 'BUNDLE_INTEGRITY_FAILED'],
      [without('snapshots'), 'BUNDLE_INTEGRITY_FAILED'],
      // The names alone: nothing here has the bytes.
      [canonicalJson(named as never), 'BUNDLE_INTEGRITY_FAILED'],
    ];
    const there = dataDirectory();
    for (const [given, code] of cases) expect(errorOf(await imported(there, given)).code, code).toBe(code);
    expect([...filesUnder(there).keys()].filter(file => file.startsWith('sessions'))).toEqual([]);
    expect(value(await imported(here, canonicalJson(named as never))).isNew).toBe(true);
  });

  it('[G24] an artifact that is gone or changed cannot be exported, and is named', async () => {
    const here = dataDirectory();
    const last = await walks['artifacts over 64 kB']?.(openTools(here));
    if (last === undefined) throw new Error('no walk');
    const [ref] = artifactRefsOf(eventsOf(here, last.sessionId));
    appendFileSync(blobOf(here, ref as Digest), ' ');
    const refused = errorOf(exported(here, last.sessionId));
    expect(refused.code).toBe('BUNDLE_INTEGRITY_FAILED');
    expect(refused.message).toContain(ref);
  });

  it('[G25] of a damaged session hold its valid part, say so, and are not gone on with; of an unknown one there is none', async () => {
    const here = dataDirectory();
    const last = await walks['to the middle, with loops']?.(openTools(here));
    if (last === undefined) throw new Error('no walk');
    const events = path.join(here, 'sessions', last.sessionId, 'events');
    appendFileSync(path.join(events, readdirSync(events).sort().at(-1) ?? ''), ' ');
    const bundle = value(exported(here, last.sessionId));
    expect(bundle.salvage).toBe('segment_size_mismatch');
    expect(JSON.parse(bundle.text).salvage).toEqual({ health: 'corrupt_tail', reason: 'segment_size_mismatch' });
    expect(errorOf(await imported(dataDirectory(), bundle.text)).message).toContain('salvaged part');
    expect(errorOf(exported(here, last.runId as never)).code).toBe('session/unknown');
    appendFileSync(path.join(events, readdirSync(events).sort()[0] ?? ''), ' ');
    expect(errorOf(exported(here, last.sessionId)).code).toBe('SESSION_CORRUPT');
  });

  it('[G26] are imported whole or not at all, wherever the process is killed', async () => {
    const here = dataDirectory();
    const last = await walks['a fork and a checkpoint']?.(openTools(here));
    if (last === undefined) throw new Error('no walk');
    const { text, events } = value(exported(here, last.sessionId));
    const file = path.join(here, 'bundle.json');
    appendFileSync(file, text);
    const run = (directory: string, ...point: readonly (string | number)[]) =>
      startChild(childScript(import.meta.dirname, 'import-child.ts'), directory, file, ...point).ended;
    const { stdout } = await run(dataDirectory());
    const { operations, placed } = JSON.parse(stdout) as { operations: number; placed: number };
    const spread = process.env.SIGNALBOX_SOAK === '1' ? 60 : 2;
    const points = Array.from({ length: spread }, (_, index) => Math.floor(((index + 0.5) * operations) / spread));
    for (const [point, when] of [...points.map(at => [at, 'before'] as const), [placed, 'before'], [placed, 'after']]) {
      const there = dataDirectory();
      expect((await run(there, String(when), Number(point))).signal).toBe('SIGKILL');
      const isThere = existsSync(path.join(there, 'sessions', last.sessionId));
      expect(isThere, `${when} ${point} of ${placed}`).toBe(Number(point) > placed || when === 'after');
      if (isThere) expect(eventsOf(there, last.sessionId).length).toBe(events);
      const arrived = value(await imported(there, text));
      expect(arrived).toMatchObject({ isNew: isThere, events });
      expect(value(await openTools(there).resume({})).warnings).toEqual([]);
    }
  });
});
