/**
 * Every run of a data directory, whichever driver it has. Surfaces use this and never choose a driver.
 *
 * 1. A driver supplies the contract's view of its runs (`RunDriver`); all of them form one list, in one order.
 * 2. An id belongs to one driver: the first that knows it answers.
 * 3. A page's cursor says how far each driver was read, so it stays valid while runs come and go.
 */
import type { GuidedRuns } from '@signalbox/guided';
import {
  type AnswerBody,
  approvalId,
  type ErrorEnvelope,
  err,
  ok,
  type Result,
  type RunId,
  type RunSnapshot,
  type RunSummary,
  type WireArtifact,
  type WireDecision,
  type WireStoredEvent,
} from '@signalbox/model';
import { unknownArtifact } from '../artifacts/read-artifact.ts';
import { resolutionOf } from '../contract-view/decision-view.ts';
import { unknownDecision } from '../decisions/answer-fit.ts';
import { guidedDriver } from './guided-driver.ts';
import { badCursor, invalid, type ListPage, mergedPage, type PartList } from './paging.ts';
import { planDriver } from './plan-driver.ts';
import type {
  ArtifactsAsked,
  DecisionsAsked,
  DriverReads,
  EventsAsked,
  FoundArtifact,
  ListedArtifact,
  RunDriver,
  RunsAsked,
} from './run-driver.ts';

type Found<T> = Promise<Result<T, ErrorEnvelope>>;

export interface AllRunsReads {
  /** Newest first. */
  list(asked: RunsAsked): Found<ListPage<RunSummary>>;
  /** Undefined if no driver has the run. */
  find(run: RunId): Found<RunSummary | undefined>;
  show(run: RunId): Found<RunSnapshot | undefined>;
  events(run: RunId, asked: EventsAsked): Found<readonly WireStoredEvent[] | undefined>;
  /** Newest first; for one run also those derived from its turns. */
  artifacts(asked: ArtifactsAsked): Found<ListPage<WireArtifact>>;
  artifact(id: string): Found<FoundArtifact>;
  /** The one queue, oldest first. */
  decisions(asked: DecisionsAsked): Found<ListPage<WireDecision>>;
  decision(id: string): Found<WireDecision>;
}

export interface AllRuns extends AllRunsReads {
  /** Answers a decision once; a second answer returns the first. */
  answer(decision: WireDecision, answer: AnswerBody, by: string): Found<WireDecision>;
}

/** The plan runs that a process drives, and guided runs if it knows of sessions. */
export function allRunsOf(host: Parameters<typeof planDriver>[0], guided?: GuidedRuns): AllRuns {
  return openAllRuns([planDriver(host), ...(guided === undefined ? [] : [guidedDriver(guided)])]);
}

function openAllRuns(drivers: readonly RunDriver[]): AllRuns {
  return {
    ...readAllRuns(drivers),
    async answer({ approvalId: id, kind, decision }, body, by) {
      const driver = drivers.find(one => one.kind === kind);
      if (driver === undefined) return err(unknownDecision(id));
      const { proposalHash } = body;
      return driver.answer(id, { resolution: resolutionOf(body, decision.kind), proposalHash }, by);
    },
  };
}

/** The same without answering, for a process that only reads. */
export function readAllRuns(drivers: readonly DriverReads[]): AllRunsReads {
  /** The answer of the first driver that knows it. */
  async function first<T>(ask: (driver: DriverReads) => Found<T | undefined> | undefined): Found<T | undefined> {
    for (const driver of drivers) {
      const found = await ask(driver);
      if (found !== undefined && (!found.ok || found.value !== undefined)) return found;
    }
    return ok(undefined);
  }

  const partsOf = <Item>(
    kind: RunSummary['kind'] | 'agent' | undefined,
    list: (driver: DriverReads) => PartList<Item>,
  ) => drivers.map(driver => (kind === undefined || driver.kind === kind ? list(driver) : none));

  return {
    list: asked =>
      mergedPage(
        {
          parts: partsOf(asked.kind, driver => driver.runs(asked)),
          isBefore: (later, earlier) => later.createdAt > earlier.createdAt,
        },
        asked,
      ),
    find: run => first(driver => driver.find(run)),
    show: run => first(driver => driver.show(run)),
    events: (run, asked) => first(driver => driver.events(run, asked)),
    async artifacts(asked) {
      const { run, turns, node, task } = asked;
      if (run === undefined && (turns !== undefined || node !== undefined || task !== undefined)) {
        return err(invalid('"turns", "node" and "task" are asked of one run; say which with "run"'));
      }
      const page = await mergedPage<ListedArtifact>(
        {
          parts: partsOf(undefined, driver => driver.artifacts(asked)),
          isBefore: (later, earlier) => later.createdAt > earlier.createdAt,
          isFull: items => items.filter(({ isMade }) => isMade).length >= MADE_AT_ONCE,
        },
        asked,
      );
      if (!page.ok) return page;
      const items: WireArtifact[] = [];
      for (const one of page.value.items) {
        const view = await one.view();
        if (!view.ok) return view;
        items.push(view.value);
      }
      return ok({ ...page.value, items });
    },
    async artifact(id) {
      const stored = await first(driver => driver.artifact(id));
      const found = stored.ok && stored.value === undefined ? await first(driver => driver.madeArtifact?.(id)) : stored;
      if (!found.ok) return found;
      return found.value === undefined ? err(unknownArtifact(id)) : ok(found.value);
    },
    decisions: asked =>
      mergedPage(
        {
          parts: partsOf(asked.kind, driver => driver.decisions(asked)),
          isBefore: (later, earlier) => later.decision.askedAt < earlier.decision.askedAt,
        },
        asked,
      ),
    async decision(given) {
      const id = approvalId.safeParse(given);
      const found = id.success ? await first(driver => driver.decision(id.data)) : ok(undefined);
      if (!found.ok) return found;
      return found.value === undefined ? err(unknownDecision(given.slice(0, 64))) : ok(found.value);
    },
  };
}

/** How many derived artifacts a page has at most. */
const MADE_AT_ONCE = 60;

const none: PartList<never> = {
  read: async after => (after === undefined ? ok([]) : err(badCursor())),
  cursorOf: () => '',
};
