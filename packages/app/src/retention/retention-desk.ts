import {
  type Digest,
  digestHex,
  type ErrorEnvelope,
  type EventId,
  err,
  ok,
  type Result,
  type RunId,
  timestampOf,
} from '@signalbox/model';
import { planRetention, type RetentionPlan, type RetentionPolicy, type RunRecord } from '@signalbox/runs';
import type { Store } from '@signalbox/store';
import { draftEvent } from '../host/run-events.ts';
import { unknownRun } from '../host/run-failures.ts';
import type { Machine } from '../machine.ts';
import { removeNote, writeNote } from '../redact/taking-note.ts';
import { journalDisagreement, readJournal } from '../run-journal/journal-agreement.ts';
import { rewriteJournal } from '../run-journal/rewrite-journal.ts';
import { releaseReserve, restoreReserve } from '../storage/reserve.ts';
import { readRetention } from './retention-config.ts';
import { foldersToRemove, markGoing, removeFolder, textsOf } from './run-folders.ts';

/** Retention of runs, in the process that owns the data directory. */
export interface RetentionDesk {
  /** Keeps or releases a run. */
  keep(run: RunId, isKept: boolean, by: string): Promise<Result<RunRecord, ErrorEnvelope>>;
  /** Removes what the policy allows; a dry run only reports it. One collection at a time. */
  collect(request: CollectRequest): Promise<Result<CollectReport, ErrorEnvelope>>;
}

export interface CollectRequest {
  readonly dryRun: boolean;
  readonly by: string;
  /** Return the free space of the database file to the disk. */
  readonly compact?: boolean | undefined;
}

/** What was removed, or would be. */
export interface CollectReport {
  readonly dryRun: boolean;
  readonly policy: RetentionPolicy;
  readonly runs: readonly CollectedRun[];
  readonly collapsed: readonly (CollectedRun & { readonly frames: number })[];
  /** Runs that are old enough to be removed or collapsed, and why they stay. */
  readonly spared: readonly { readonly run: RunId; readonly why: RetentionPlan['spared'][number]['why'] | 'journal' }[];
  /** Folders of removed runs, including those that an earlier collection left behind. */
  readonly folders: Amount;
  readonly workspaces: Amount;
  readonly sessions: Amount;
  readonly blobs: Amount;
  /** Why blobs were not checked, if they were not. */
  readonly blobsSpared?: string | undefined;
  readonly bytes: number;
}

interface CollectedRun {
  readonly run: RunId;
  readonly name: string;
  readonly bytes: number;
}

interface Amount {
  readonly count: number;
  readonly bytes: number;
}

export interface RetentionDeskPorts {
  readonly store: Store;
  readonly dataDirectory: string;
  readonly machine: Machine;
  /** Runs that are currently driven. */
  readonly driven: () => readonly RunId[];
  /** Rewrites the journal of a run, after bodies of its log were replaced. */
  readonly rewriteJournal?: ((run: RunId) => Promise<Result<void, ErrorEnvelope>>) | undefined;
  /** Runs `work` while nothing else is being removed. */
  readonly alone?: (<T>(work: () => Promise<T>) => Promise<T>) | undefined;
  /** Removes a run's workspace. Returns its size. */
  readonly removeWorkspace?: ((run: RunRecord, dryRun: boolean) => Promise<number>) | undefined;
  /** Collects guided sessions, and then sweeps blobs while no session is written, unless their journals cannot be trusted. */
  readonly collectSessions?: CollectSessions | undefined;
}

type CollectSessions = (options: {
  readonly dryRun: boolean;
  readonly sweepBlobs: (needed: ReadonlySet<Digest>) => Promise<void>;
}) => Promise<Result<Amount & { readonly untrusted: readonly string[] }, ErrorEnvelope>>;

const NOTHING: Amount = { count: 0, bytes: 0 };

/** Without guided sessions. */
const noSessions: CollectSessions = async ({ sweepBlobs }) => {
  await sweepBlobs(new Set());
  return ok({ ...NOTHING, untrusted: [] });
};

export function createRetentionDesk(ports: RetentionDeskPorts): RetentionDesk {
  const { store, dataDirectory, machine, driven, removeWorkspace, collectSessions = noSessions } = ports;
  const { retention } = store;
  const { rewriteJournal: rewrite = run => rewriteJournal(dataDirectory, store, run), alone = oneByOne() } = ports;

  /** The note exists before the first body is removed, and until the last journal is rewritten. */
  async function collapse(
    runs: readonly RunId[],
    { dryRun, by, why }: Pick<CollectRequest, 'dryRun' | 'by'> & { readonly why: string },
  ): Promise<Result<Pick<CollectReport, 'collapsed' | 'spared'>, ErrorEnvelope>> {
    const collapsed: CollectReport['collapsed'][number][] = [];
    const spared: CollectReport['spared'][number][] = [];
    const due: RunId[] = [];
    for (const run of runs) {
      if ((await journalDisagreement(readJournal(dataDirectory, run), store, run)) === undefined) due.push(run);
      else spared.push({ run, why: 'journal' });
    }
    if (!dryRun && due.length > 0) writeNote(dataDirectory, { v: 1, kind: 'collapse', runs: due });
    for (const run of due) {
      const name = (await store.run(run))?.name ?? '';
      // It may have been resumed meanwhile.
      if (!dryRun && driven().includes(run)) continue;
      const { ranges, frames, bytes } = retention.weighCollapse(run);
      if (frames === 0) continue;
      if (!dryRun) {
        const at = timestampOf(machine.clock);
        const done = store.takenAway.collapse(run, ranges, { at, by, why, eventId: machine.ids.mint<EventId>() });
        if (!done.ok) return done;
        const written = await rewrite(run);
        if (!written.ok) return written;
      }
      collapsed.push({ run, name, frames, bytes });
    }
    if (!dryRun && due.length > 0) removeNote(dataDirectory);
    return ok({ collapsed, spared });
  }

  /** Rows first, then files, then blobs: a killed process leaves unreferenced files, which the next collection removes. */
  async function collect({
    dryRun,
    by,
    compact = false,
  }: CollectRequest): Promise<Result<CollectReport, ErrorEnvelope>> {
    const policy = readRetention(dataDirectory);
    if (!policy.ok) return policy;
    const nowMs = machine.clock.now();
    const now = new Set(driven());
    const runs = retention.retained().map(run => ({ ...run, isDriven: now.has(run.id) }));
    const plan = planRetention(runs, policy.value, nowMs);
    const going = new Set(plan.remove.flat());

    const removed: CollectedRun[] = [];
    let workspaces = NOTHING;
    for (const tree of plan.remove) {
      const records = await Promise.all(tree.map(run => store.run(run)));
      const told = { run: tree[0] as RunId, name: records[0]?.name ?? '', bytes: retention.weigh(tree) };
      // It may have been resumed meanwhile.
      if (!dryRun && tree.some(run => driven().includes(run))) continue;
      if (!dryRun) markGoing(dataDirectory, tree);
      const done = dryRun ? ok(undefined) : retention.remove(tree);
      if (!done.ok) return done;
      for (const record of records) {
        const bytes = record === undefined ? 0 : ((await removeWorkspace?.(record, dryRun)) ?? 0);
        if (bytes > 0) workspaces = { count: workspaces.count + 1, bytes: workspaces.bytes + bytes };
      }
      removed.push(told);
    }

    const why = `it ended ${policy.value.collapseAfterDays} days ago or earlier`;
    const done = await collapse(plan.collapse, { dryRun, by, why });
    if (!done.ok) return done;
    const { collapsed } = done.value;

    const there = new Set(retention.retained().map(({ id }) => id));
    const folders = foldersToRemove(dataDirectory, run => there.has(run) && !going.has(run), going, nowMs);
    if (!dryRun) for (const folder of folders) if (!there.has(folder.run)) removeFolder(folder);

    let blobs = NOTHING;
    const sweepBlobs = async (needed: ReadonlySet<Digest>) => {
      const texts = [...needed].map(digestHex).join(' ');
      const found = await retention.unreferenced({
        nowMs,
        without: dryRun ? [...going] : [],
        texts: chained(
          [texts],
          textsOf(dataDirectory, dryRun ? going : new Set([...going].filter(run => !there.has(run)))),
        ),
      });
      blobs = amountOf(dryRun ? found : retention.removeBlobs(found, nowMs));
    };
    const sessions = await collectSessions({ dryRun, sweepBlobs });
    if (!sessions.ok) return sessions;
    if (compact && !dryRun) retention.compact();

    const parts = [...removed, ...collapsed, amountOf(folders), workspaces, sessions.value, blobs];
    const { count, bytes, untrusted } = sessions.value;
    return ok({
      dryRun,
      policy: policy.value,
      runs: removed,
      collapsed,
      spared: [...plan.spared, ...done.value.spared],
      folders: amountOf(folders),
      workspaces,
      sessions: { count, bytes },
      blobs,
      ...(untrusted.length > 0 && { blobsSpared: untrusted.join('; ') }),
      bytes: parts.reduce((sum, part) => sum + part.bytes, 0),
    });
  }

  return {
    async keep(run, isKept, by) {
      const record = await store.run(run);
      if (record === undefined) return err(unknownRun(run));
      if ((record.kept !== undefined) === isKept) return ok(record);
      const at = timestampOf(machine.clock);
      const event = draftEvent(machine, 'run.kept', { kept: isKept, by });
      const kept = isKept ? { at, by } : null;
      const done = await store.commit({ at, retention: { kept }, events: [event] }, { run, version: 'any' });
      if (!done.ok) return done;
      const after = await store.run(run);
      return after === undefined ? err(unknownRun(run)) : ok(after);
    },
    collect: request =>
      alone(async () => {
        if (!request.dryRun) releaseReserve(dataDirectory);
        try {
          return await collect(request);
        } finally {
          restoreReserve(dataDirectory);
        }
      }),
  };
}

/** Runs one piece of work after another. */
export function oneByOne(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return work => {
    const done = last.then(work);
    last = done.catch(() => undefined);
    return done;
  };
}

function amountOf(items: readonly { readonly bytes: number }[]): Amount {
  return { count: items.length, bytes: items.reduce((sum, { bytes }) => sum + bytes, 0) };
}

function* chained<T>(...parts: readonly Iterable<T>[]): Generator<T> {
  for (const part of parts) yield* part;
}
