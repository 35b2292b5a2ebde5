import type { RunPhase } from '@signalbox/model';
import { type Frame, hasRunEnded, mayRunFollow, type RunChange, type RunWrite } from '@signalbox/runs';
import { PlanError } from '../plan-error.ts';
import type { EngineBase, PlanCode } from './engine.ts';
import type { RunEnd } from './engine-options.ts';
import { laterVersionOf, newSourceOf } from './plan-version.ts';
import { isUntouched } from './run-memory.ts';

/** What a commit must make durable first, and what is notified after it. */
type CommittedCode = Pick<PlanCode, 'signals' | 'queries' | 'files' | 'artifacts'>;

/** The commits of a run: each takes everything in the ledger, and the changes of the run itself. */
export interface RunCommit {
  /** Returns an end only if the commit failed. */
  commit(frame: Frame | undefined, end: RunEnd | undefined): Promise<RunEnd | undefined>;
  /** Commits the rest together with the end. */
  finish(end: RunEnd): Promise<RunEnd>;
  /** Whether the next commit can write this end: a run cannot be created in its end, nor go from one end to another. */
  canEnd(end: RunEnd): boolean;
  /** The version of its plan that the run continues with, if not the first. */
  readonly planVersion: { readonly planVersion?: number };
  /** Sets the run's phase for the next commit. */
  setPhase(phase: 'EXECUTE' | 'VERIFY'): void;
}

export function createRunCommit({ options, memory, commands }: EngineBase, code: CommittedCode): RunCommit {
  const { signals, queries, files, artifacts } = code;
  const { run, create, startedBy, owner } = options;
  let isClaimDue = options.claim === true && memory.record !== undefined && !isUntouched(memory.record, owner);
  let newSource = newSourceOf(memory.record, options.source);
  const planVersion = laterVersionOf(memory.record, options.source);
  const { ledger } = memory;
  let version = memory.record?.version ?? 0;
  let epoch = memory.record?.epoch ?? 0;
  let status = memory.record?.status ?? 'running';
  let shownPhase: RunPhase = memory.record?.phase ?? 'EXECUTE';
  let phase: RunPhase = 'EXECUTE';

  function runWriteOf(end: RunEnd | undefined): RunWrite | undefined {
    if (version === 0) {
      if (create === undefined)
        throw new PlanError('plan/not-a-plan', `run ${run} does not exist and is not to be created`);
      ledger.created({
        driver: 'plan',
        name: create.name,
        ...(create.origin === undefined ? {} : { origin: create.origin }),
        ...(startedBy === undefined ? {} : { by: startedBy }),
      });
      return { kind: 'create', run: { ...create, driver: 'plan', status: 'running', phase, owner } };
    }
    const to = end === undefined || end.status === 'lost' ? 'running' : end.status;
    const nextPhase = end?.status === 'completed' ? 'DONE' : phase;
    const claim = claimOf();
    const inputSeq = signals.toKeep(end !== undefined);
    const source = newSource === undefined ? {} : { source: newSource };
    const limits = memory.areLimitsChanged ? { limits: memory.limits } : {};
    const isNothing =
      claim === undefined && inputSeq === undefined && newSource === undefined && !memory.areLimitsChanged;
    if (to === status && nextPhase === shownPhase && isNothing) return undefined;
    newSource = undefined;
    memory.areLimitsChanged = false;
    const why = {
      ...(end?.status === 'stopped' ? { stopReason: end.reason } : {}),
      ...(end?.status === 'failed' ? { error: end.error } : {}),
    };
    // A reason for an earlier end no longer applies when the run continues.
    const over: Pick<RunChange, 'stopReason' | 'error'> = {
      ...(status === 'stopped' && to !== 'stopped' ? { stopReason: null } : {}),
      ...(status === 'failed' && to !== 'failed' ? { error: null } : {}),
    };
    if (to !== status) ledger.event('run.status', { from: status, to, ...why });
    if (nextPhase !== shownPhase) ledger.contractEvent({ type: 'run.phase', phase: nextPhase });
    if (end?.status === 'stalled') {
      ledger.contractEvent({ type: 'run.stalled', evidence: end.evidence });
    }
    status = to;
    shownPhase = nextPhase;
    const output = end?.status === 'completed' ? { output: end.output } : {};
    const kept = inputSeq === undefined ? {} : { inputSeq };
    return {
      kind: 'change',
      change: { status: to, phase: nextPhase, ...over, ...why, ...output, ...claim, ...kept, ...source, ...limits },
    };
  }

  /** Claiming a run is part of the first commit, so that a process owns only runs that it changed. */
  function claimOf(): Pick<RunChange, 'epoch' | 'owner'> | undefined {
    if (!isClaimDue) return undefined;
    isClaimDue = false;
    const claimed = { epoch: epoch + 1, owner };
    ledger.event('run.claimed', claimed);
    return claimed;
  }

  function canEnd(end: RunEnd): boolean {
    return version > 0 && end.status !== 'lost' && !hasRunEnded(status) && mayRunFollow(status, end.status);
  }

  async function commit(
    frame: Frame | undefined,
    end: RunEnd | undefined,
    isEndDue = false,
  ): Promise<RunEnd | undefined> {
    const write = runWriteOf(end);
    if (frame !== undefined) {
      const { index, trigger, mounted, unmounted, digest } = frame;
      ledger.event('frame.committed', {
        frame: index,
        trigger,
        mounted: mounted.length,
        unmounted: unmounted.length,
        digest,
        ...(frame.planVersion === undefined ? {} : { planVersion: frame.planVersion }),
      });
    }
    const writes = ledger.writes(frame, memory.nextFrame, write);
    const contents = [...files.takeBlobs(), ...artifacts.takeBlobs()];
    const kept = contents.length === 0 ? undefined : await options.blobs?.put(contents);
    if (kept?.ok === false) return { status: 'lost', error: kept.error };
    const committed = await options.commit.commit(writes, { run, epoch, version });
    if (!committed.ok) return { status: 'lost', error: committed.error };
    ledger.settle();
    version = committed.value.version;
    epoch = committed.value.epoch;
    signals.committed(committed.value.nextSeq, writes.events?.length ?? 0);
    if (frame !== undefined) memory.nextFrame += 1;
    queries.committed(writes);
    // If an end is due, callers are answered once the outcome of the run is known.
    if (!isEndDue) commands.committed();
    return undefined;
  }

  return {
    commit,
    canEnd,
    planVersion,
    setPhase(next) {
      phase = next;
    },
    async finish(end) {
      const lost = canEnd(end) ? undefined : await commit(undefined, undefined, true);
      return lost ?? (await commit(undefined, end)) ?? end;
    },
  };
}
