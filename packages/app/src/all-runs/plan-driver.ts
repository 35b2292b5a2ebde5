import {
  approvalId,
  artifactId,
  defined,
  type ErrorEnvelope,
  err,
  ok,
  type Result,
  type RunId,
  type RunSummary,
  runId,
  type WireArtifact,
  type WireDecision,
} from '@signalbox/model';
import { type Blobs, everyArtifact, type RunReader } from '@signalbox/runs';
import { artifactContent } from '../artifacts/read-artifact.ts';
import { artifactView, turnView } from '../contract-view/artifact-view.ts';
import { decisionView } from '../contract-view/decision-view.ts';
import { tellEvents } from '../contract-view/event-page.ts';
import { runSummaryOf, snapshotOf, summariesOf } from '../contract-view/run-view.ts';
import { unknownDecision } from '../decisions/answer-fit.ts';
import type { RunHost } from '../host/run-host.ts';
import { timerWait } from '../host/timer-wait.ts';
import type { Turns } from '../turns/turn-desk.ts';
import { badCursor, type PartList } from './paging.ts';
import type {
  ArtifactsAsked,
  DecisionsAsked,
  DriverReads,
  ListedArtifact,
  RunDriver,
  RunsAsked,
} from './run-driver.ts';

export interface PlanReadPorts {
  readonly reader: RunReader;
  readonly blobs: Pick<Blobs, 'get'>;
  /** The artifacts derived from agent turns. */
  turns(): Turns;
  /** The runs that are currently driven. */
  driven(): readonly RunId[];
}

/** The plan runs that a process drives. */
export function planDriver(
  host: Pick<RunHost, 'reader' | 'blobs' | 'driven' | 'answer'> & { readonly inspection: { readonly turns: Turns } },
): RunDriver {
  const { reader, blobs, inspection } = host;
  return {
    ...planReads({ reader, blobs, turns: () => inspection.turns, driven: () => host.driven() }),
    async answer(id, { resolution, proposalHash }, by) {
      const found = await reader.decision(id);
      if (found === undefined) return err(unknownDecision(id));
      const answered = await host.answer(id, { resolution, ...(proposalHash && { proposalHash }) }, by);
      return answered.ok ? ok(decisionView(found.run, answered.value)) : answered;
    },
  };
}

/** The plan runs, whoever drives them. */
export function planReads(ports: PlanReadPorts): DriverReads {
  const { reader, blobs } = ports;
  let opened: Turns | undefined;
  const turns = (): Turns => {
    opened ??= ports.turns();
    return opened;
  };
  return {
    kind: 'plan',
    runs: asked => runsOf(ports, asked),
    async find(run) {
      const record = await reader.run(run);
      if (record === undefined) return ok(undefined);
      const open = await reader.decisions({ run, status: ['open'] });
      const until = await timerWait(reader, record);
      return ok(runSummaryOf(record, { driven: ports.driven().includes(run), openDecisions: open.length, until }));
    },
    show: async run => ok(await snapshotOf(ports, run)),
    async events(run, { from, limit, view }) {
      if ((await reader.run(run)) === undefined) return ok(undefined);
      const told = await tellEvents(reader, run, view)(await reader.events(run, from, limit));
      return ok(told.map(({ stored }) => stored));
    },
    artifacts: asked =>
      asked.run === undefined || asked.turns === 'none'
        ? kept(reader, asked)
        : keptAndMade(reader, turns(), asked.run, asked),
    async artifact(given) {
      const id = artifactId.safeParse(given);
      const found = id.success ? await reader.artifact(id.data) : undefined;
      if (found === undefined) return ok(undefined);
      const { run, artifact } = found;
      return ok({ artifact: artifactView(run, artifact), content: () => artifactContent(blobs, artifact) });
    },
    async madeArtifact(given) {
      const turn = await turns().find(given);
      const made = turn && (await turns().read(turn));
      if (made === undefined) return ok(undefined);
      return made.ok ? ok({ artifact: turnView(made.value), content: async () => ok(made.value.content) }) : made;
    },
    decisions: asked => decisionsOf(reader, asked),
    async decision(id) {
      const found = await reader.decision(id);
      return ok(found && decisionView(found.run, found.decision));
    },
  };
}

function runsOf(ports: PlanReadPorts, asked: RunsAsked): PartList<RunSummary> {
  const { kind: _, after: __, limit: ___, ...filter } = asked;
  const { reader } = ports;
  return {
    async read(after, limit) {
      const from = runId.optional().safeParse(after);
      if (!from.success || (from.data !== undefined && (await reader.run(from.data)) === undefined)) {
        return err(badCursor());
      }
      const page = await reader.runs(withoutUndefined({ ...filter, after: from.data, limit }));
      return ok(await summariesOf(ports, page.items));
    },
    cursorOf: ({ id }) => id,
  };
}

function decisionsOf(reader: RunReader, { run, status = 'open' }: DecisionsAsked): PartList<WireDecision> {
  return {
    async read(after, limit) {
      const from = approvalId.optional().safeParse(after);
      if (!from.success || (from.data !== undefined && (await reader.decision(from.data)) === undefined)) {
        return err(badCursor());
      }
      const found = await reader.decisions({
        ...defined({ run }),
        ...(status !== 'all' && { status: [status] }),
        ...defined({ after: from.data }),
        limit,
      });
      return ok(found.map(one => decisionView(one.run, one.decision)));
    },
    cursorOf: ({ approvalId: id }) => id,
  };
}

/** The stored artifacts, of one run or of all. */
function kept(reader: RunReader, asked: ArtifactsAsked): PartList<ListedArtifact> {
  const { run, kind, key, versions, node, task } = asked;
  if (run !== undefined && (node !== undefined || task !== undefined)) {
    return atHand(async () => (await allKept(reader, run, asked)).filter(one => isAskedFor(one, asked)).map(listed));
  }
  return {
    async read(after, limit) {
      const from = artifactId.optional().safeParse(after);
      if (!from.success || (from.data !== undefined && (await reader.artifact(from.data)) === undefined)) {
        return err(badCursor());
      }
      const { items } = await reader.artifactList({
        limit,
        ...defined({ run, kind, key, versions, after: from.data }),
      });
      return ok(items.map(({ run: of, artifact }) => listed(artifactView(of, artifact))));
    },
    cursorOf: ({ id }) => id,
  };
}

/** The stored and the turn-derived artifacts of one run, as one list. */
function keptAndMade(reader: RunReader, turns: Turns, run: RunId, asked: ArtifactsAsked): PartList<ListedArtifact> {
  return atHand(async () => {
    // Derived artifacts have no key.
    const made = asked.key === undefined ? await turns.list(run, asked.node) : [];
    const found = asked.turns === 'only' ? [] : await allKept(reader, run, asked);
    return [
      ...made
        .filter(one => isAskedFor(one, asked))
        .map((one): ListedArtifact => {
          const view = async (): Promise<Result<WireArtifact, ErrorEnvelope>> => {
            const read = await turns.read(one);
            return read.ok ? ok(turnView(read.value)) : read;
          };
          return { id: one.id, createdAt: one.createdAt, isMade: true, view };
        }),
      ...found.filter(one => isAskedFor(one, asked)).map(listed),
    ].sort((a, b) => (a.createdAt > b.createdAt ? -1 : a.createdAt < b.createdAt ? 1 : 0));
  });
}

/** A list that is read completely. */
function atHand(all: () => Promise<readonly ListedArtifact[]>): PartList<ListedArtifact> {
  return {
    async read(after, limit) {
      const items = await all();
      const from = after === undefined ? 0 : items.findIndex(({ id }) => id === after) + 1;
      return after !== undefined && from === 0 ? err(badCursor()) : ok(items.slice(from, from + limit));
    },
    cursorOf: ({ id }) => id,
  };
}

export function listed(artifact: WireArtifact): ListedArtifact {
  return { id: artifact.id, createdAt: artifact.createdAt, isMade: false, view: async () => ok(artifact) };
}

function isAskedFor(one: Pick<WireArtifact, 'kind' | 'node' | 'task'>, { kind, node, task }: ArtifactsAsked): boolean {
  return (
    (kind === undefined || one.kind === kind) &&
    (node === undefined || one.node === node) &&
    (task === undefined || one.task === task)
  );
}

async function allKept(
  reader: RunReader,
  run: RunId,
  { key, versions }: ArtifactsAsked,
): Promise<readonly WireArtifact[]> {
  const found: WireArtifact[] = [];
  for await (const { artifact } of everyArtifact(reader, withoutUndefined({ run, key, versions }))) {
    found.push(artifactView(run, artifact));
  }
  return found;
}

type Present<T> = { [Key in keyof T]: Exclude<T[Key], undefined> };

/** Filters distinguish an absent field from an undefined one. */
function withoutUndefined<T extends object>(fields: T): Partial<Present<T>> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Partial<Present<T>>;
}
