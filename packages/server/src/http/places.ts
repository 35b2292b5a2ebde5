import type { AllRuns } from '@signalbox/app/all-runs';
import type { FleetDesk } from '@signalbox/app/fleet';
import type { RunReader, RunRecord } from '@signalbox/app/host';
import {
  type ErrorEnvelope,
  err,
  failure,
  ok,
  type Result,
  type RunId,
  type RunKind,
  runId,
  type SessionId,
  sessionId,
  type WireDecision,
} from '@signalbox/model';
import { knownRun, unknownRun } from '../routes/known-run.ts';

/** Looks up the things that a path's parameters name. Lookup comes before input checks, so that an unknown id is reported first. */
export interface Places {
  /** A plan run. */
  run(given: string): Promise<Result<RunRecord, ErrorEnvelope>>;
  anyRun(given: string): Promise<Result<AnyRun, ErrorEnvelope>>;
  session(given: string): Result<SessionId, ErrorEnvelope>;
  decision(given: string): Promise<Result<WireDecision, ErrorEnvelope>>;
}

/** A plan run or a guided run. */
export interface AnyRun {
  readonly id: RunId;
  readonly kind: RunKind;
}

export function createPlaces(
  reader: RunReader,
  all: Pick<AllRuns, 'find' | 'decision'>,
  fleet: Pick<FleetDesk, 'approval'> | undefined,
): Places {
  return {
    run: given => knownRun(reader, given),
    async anyRun(given) {
      const id = runId.safeParse(given);
      const found = id.success ? await all.find(id.data) : ok(undefined);
      if (!found.ok) return found;
      return found.value === undefined ? err(unknownRun(given)) : ok(found.value);
    },
    session(given) {
      const id = sessionId.safeParse(given);
      return id.success ? ok(id.data) : err(unknownSession(given));
    },
    async decision(given) {
      const ofAgent = fleet?.approval(given);
      return ofAgent === undefined ? all.decision(given) : ok(ofAgent);
    },
  };
}

function unknownSession(given: string): ErrorEnvelope {
  return failure('session/unknown', {
    message: `There is no session ${given.slice(0, 64)}.`,
    suggestion: 'List the sessions and pass the full id of one.',
  });
}
