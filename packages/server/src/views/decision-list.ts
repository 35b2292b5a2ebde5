import type { GuidedRuns } from '@signalbox/app/guided';
import type { RunReader } from '@signalbox/app/runs';
import {
  approvalId,
  type decisionsQuery,
  type ErrorEnvelope,
  err,
  ok,
  type Result,
  type RunId,
  type WireDecision,
} from '@signalbox/model';
import type * as z from 'zod';
import { badCursor, type ListPage, mergedPage, type PartList } from '../routes/paging.ts';
import { decisionView } from './decision-view.ts';

export type DecisionsAsked = Omit<z.infer<typeof decisionsQuery>, 'run'> & { readonly run?: RunId | undefined };

/** The one queue: decisions of plans and gaps of guided sessions, oldest first. */
export function listDecisions(
  reader: RunReader,
  guided: GuidedRuns | undefined,
  asked: DecisionsAsked,
): Promise<Result<ListPage<WireDecision>, ErrorEnvelope>> {
  const { kind } = asked;
  return mergedPage(
    {
      left: kind === 'guided' ? none : planDecisions(reader, asked),
      right: kind === 'plan' || guided === undefined ? none : guidedDecisions(guided, asked),
      isLeftFirst: (a, b) => a.decision.askedAt <= b.decision.askedAt,
    },
    asked,
  );
}

const none: PartList<WireDecision> = {
  read: async after => (after === undefined ? ok([]) : err(badCursor())),
  cursorOf: ({ approvalId: id }) => id,
};

function planDecisions(reader: RunReader, { run, status = 'open' }: DecisionsAsked): PartList<WireDecision> {
  return {
    async read(after, limit) {
      const from = approvalId.optional().safeParse(after);
      if (!from.success || (from.data !== undefined && (await reader.decision(from.data)) === undefined)) {
        return err(badCursor());
      }
      const found = await reader.decisions({
        ...(run !== undefined && { run }),
        ...(status !== 'all' && { status: [status] }),
        ...(from.data !== undefined && { after: from.data }),
        limit,
      });
      return ok(found.map(one => decisionView(one.run, one.decision)));
    },
    cursorOf: ({ approvalId: id }) => id,
  };
}

function guidedDecisions(guided: GuidedRuns, { run, status = 'open' }: DecisionsAsked): PartList<WireDecision> {
  return {
    async read(after, limit) {
      const listed = guided.decisions();
      if (!listed.ok) return listed;
      const from = after === undefined ? 0 : listed.value.findIndex(({ approvalId: id }) => id === after) + 1;
      if (after !== undefined && from === 0) return err(badCursor());
      const found = listed.value
        .slice(from)
        .filter(
          one => (run === undefined || one.runId === run) && (status === 'all' || one.decision.status === status),
        );
      return ok(found.slice(0, limit));
    },
    cursorOf: ({ approvalId: id }) => id,
  };
}
