import { type ErrorEnvelope, err, failure, ok, type Result, thrownMessage } from '@signalbox/model';
import { filesystem } from '../filesystem/filesystem.ts';
import { createMemoryFilesystem } from '../filesystem/memory-filesystem.ts';
import type { LockError, PathLocks } from '../filesystem/path-locks.ts';
import type { Recovery } from '../filesystem/recovery.ts';
import { thrownReason } from '../filesystem/system-reason.ts';
import type { UndoLog } from '../filesystem/undo-log.ts';
import type { GitProgram } from '../git/git-programs.ts';
import { programWords } from '../git/program-words.ts';
import type { SessionTransaction } from '../session/session-transaction.ts';
import type { ToolInvocation } from '../session/tool-invoked.ts';
import type { ExecutionState } from '../snapshots/execution-state.ts';
import { snapshotFailed } from '../snapshots/snapshot-error.ts';
import { type CallCheckpoints, createCallCheckpoints, warned } from './call-checkpoints.ts';
import { judged, type Verdict } from './call-verdict.ts';
import { beginFileTransaction, locatedPaths } from './file-transaction.ts';
import { guardedFiles, type WriteScope } from './guarded-files.ts';
import { type HandlerEnd, runHandler } from './handler-run.ts';
import { runOnLayer } from './layered-call.ts';
import { linger, lingeringIn } from './lingering-calls.ts';
import { announce } from './telemetry.ts';
import { machineTimers, type Timers } from './timers.ts';
import type { AnyTool, ToolContext } from './tool.ts';
import type { PromptEvaluationError, Rollback, ToolFailure, ToolOutcome } from './tool-outcome.ts';
import { checkPolicy, type ToolPolicy } from './tool-policy.ts';

/** A call as requested by a provider. */
export interface ProviderToolCall {
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
}

/**
 * The only way to run a tool. In this order: parse, policy, availability, capture, handler, result check, commit or restore,
 * checkpoint, telemetry.
 *
 * 1. A call that does not succeed leaves nothing behind except logs, spending and what its outcome reports.
 * 2. Calls with file effects lock their root from before the capture until after the checkpoint.
 * 3. Nothing after the commit can turn a successful call into a failed one.
 */
export interface ToolRunner {
  /** An error means that the evaluation is over. Throws only a handler's `VisibilityExpansionRequired`. */
  execute(
    call: ProviderToolCall,
    options?: { readonly signal?: AbortSignal },
  ): Promise<Result<ToolOutcome, PromptEvaluationError>>;
}

export interface ToolRunnerOptions {
  readonly state: ExecutionState;
  readonly tools: readonly AnyTool[];
  readonly locks: PathLocks;
  /** The task of the calls. */
  readonly evaluation: string;
  readonly policy?: ToolPolicy;
  /** Records external calls before they begin, so that a crash does not hide them. */
  readonly undoLog?: UndoLog;
  /** Finishes a rollback in a directory that failed for lack of disk space. Tried before a call is refused because of it. */
  readonly recover?: (root: string) => Promise<readonly Recovery[]>;
  readonly timers?: Timers;
  readonly telemetry?: (invocation: ToolInvocation) => unknown;
}

const NOTHING: Rollback = { kind: 'nothing-to-undo' };

export function createToolRunner(options: ToolRunnerOptions): ToolRunner {
  const { state, locks, timers = machineTimers } = options;
  const tools = new Map(options.tools.map(tool => [tool.name, tool]));
  const files = state.resources.get(filesystem);
  const noFiles = createMemoryFilesystem();
  const checkpoints: CallCheckpoints = createCallCheckpoints(state);

  return {
    async execute(call, { signal } = {}) {
      const startedAt = state.clock.now();
      const tool = tools.get(call.name);
      if (tool === undefined) return ok(refused(unknownTool(call.name)));
      const input = parsed(tool, call.input);
      if (!input.ok) return ok(refused(invalidInput(call, input.error)));
      const allowed = checkPolicy(options.policy ?? {}, tool);
      if (!allowed.ok) return ok(refused(allowed.error));
      const ready = await tool.ready?.(files?.root ?? null);
      if (ready?.ok === false) return ok(refused(ready.error));

      const verdict = await run(call, tool, input.value, signal);
      announce(state, options.telemetry, invocationOf(call, verdict.outcome, state.clock.now() - startedAt));
      if (verdict.rethrow !== undefined) throw verdict.rethrow;
      if (verdict.deadline) return err({ ...deadlinePassed(), outcome: verdict.outcome });
      return ok(verdict.outcome);
    },
  };

  async function run(call: ProviderToolCall, tool: AnyTool, input: unknown, signal?: AbortSignal): Promise<Verdict> {
    switch (tool.effects.kind) {
      case 'files': {
        const { paths } = tool.effects;
        const layered = tool.effects.onLayer !== undefined ? await runLayered(call, tool, input, signal) : undefined;
        if (layered !== undefined) return layered;
        return runRecovered(call, () => runWithFiles(call, tool, input, paths, signal));
      }
      case 'external':
        return runExternal(call, tool, input, signal);
      default:
        return runPlain(call, tool, input, signal);
    }
  }

  async function runPlain(call: ProviderToolCall, tool: AnyTool, input: unknown, signal?: AbortSignal) {
    const pre = await checkpoints.before(call, tool, signal);
    const { end, session } = await handle(call, tool, input, 'nothing', signal);
    const verdict = judged(call, tool, end, NOTHING);
    const final = verdict.succeeded ? committed(session, verdict) : verdict;
    return checkpoints.after(call, tool, pre, final, { durable: false });
  }

  async function runExternal(call: ProviderToolCall, tool: AnyTool, input: unknown, signal?: AbortSignal) {
    const id = `external\n${options.evaluation}\n${call.id}`;
    const record = { version: 1 as const, id, callId: call.id, tool: tool.name, startedAt: state.clock.now() };
    try {
      await options.undoLog?.put({ ...record, work: { kind: 'external' } });
    } catch (cause) {
      return notRun(notBegun(call, snapshotFailed(thrownReason(cause))));
    }
    const verdict = await runPlain(call, tool, input, signal);
    try {
      await options.undoLog?.remove(id);
    } catch (cause) {
      // The answer is known; only the next start will still report it as unknown.
      return warned(verdict, `the call will be reported as unknown at the next start: ${thrownReason(cause)}`);
    }
    return verdict;
  }

  /** Runs a call; where an earlier one was not undone yet, that is tried first. */
  async function runRecovered(call: ProviderToolCall, work: () => Promise<Verdict>): Promise<Verdict> {
    const verdict = await work();
    const { outcome } = verdict;
    const isBlocked = outcome.status === 'failed' && outcome.error.code === 'state/recovery-needed';
    if (!isBlocked || options.recover === undefined) return verdict;
    try {
      const recoveries = await options.recover((files ?? noFiles).lockPath);
      const failed = recoveries.find(one => one.outcome.kind === 'failed')?.outcome;
      return failed?.kind === 'failed' ? notRun(notBegun(call, failed.error)) : await work();
    } catch (cause) {
      return notRun(notBegun(call, snapshotFailed(thrownReason(cause))));
    }
  }

  async function runWithFiles(
    call: ProviderToolCall,
    tool: AnyTool,
    input: unknown,
    declared: ((input: unknown) => readonly string[]) | undefined,
    signal?: AbortSignal,
  ): Promise<Verdict> {
    let paths: readonly string[] | undefined;
    try {
      paths = declared && locatedPaths(files ?? noFiles, declared(input));
    } catch (cause) {
      return notRun(invalidInput(call, `its paths cannot be determined: ${thrownMessage(cause)}`));
    }
    const { lockPath } = files ?? noFiles;
    const held = lingeringIn(locks, lockPath);
    if (held !== undefined) return notRun(notBegun(call, stillHeld(lockPath, held)));
    const lock = await locks.acquire(lockPath, 'exclusive', signal);
    if (!lock.ok) return notRun(notLocked(call, lock.error));
    let release = lock.value;
    try {
      const began = { id: call.id, tool: tool.name, paths, evaluation: options.evaluation, signal };
      const transaction = await beginFileTransaction(state, began, timers);
      if (!transaction.ok) {
        return notRun(signal?.aborted === true ? canceledBefore(call) : notBegun(call, transaction.error));
      }
      const { pre, commit, rollback } = transaction.value;
      const { end, session } = await handle(call, tool, input, paths ?? 'anything', signal);
      if (end.kind === 'canceled' && end.late === null) {
        // Its later writes are undone too: the restore waits for it, and the directory for the restore.
        const waiting = judged(call, tool, end, { kind: 'waiting' });
        const restored = end.over.then(async () => {
          const undone = judged(call, tool, end, await rollback());
          await checkpoints.after(call, tool, pre, undone, paths === undefined ? {} : { paths });
        });
        linger(locks, lockPath, { call: call.id, tool: tool.name }, restored.finally(lock.value));
        release = () => {};
        return waiting;
      }
      let verdict = judged(call, tool, end, NOTHING);
      const programs = verdict.succeeded ? await transaction.value.programs() : [];
      if (programs.length > 0)
        verdict = judged(call, tool, { kind: 'threw', cause: new Error(unseen(programs)) }, NOTHING);
      if (verdict.succeeded) {
        const kept = await commit();
        verdict = kept.ok
          ? committed(session, verdict)
          : judged(call, tool, { kind: 'threw', cause: kept.error }, NOTHING);
      }
      if (!verdict.succeeded && verdict.outcome.status === 'failed') {
        verdict = { ...verdict, outcome: { ...verdict.outcome, rollback: await rollback() } };
      }
      const changed = transaction.value.paths;
      return await checkpoints.after(call, tool, pre, verdict, changed === undefined ? {} : { paths: changed });
    } finally {
      release();
    }
  }

  async function runLayered(call: ProviderToolCall, tool: AnyTool, input: unknown, signal?: AbortSignal) {
    if (files?.layering === undefined) return undefined;
    let own: SessionTransaction | undefined;
    return runOnLayer(call, tool, {
      canCopy: tool.effects.kind === 'files' && tool.effects.onLayer === 'or-copy',
      refused: error => notRun(notBegun(call, error)),
      ...{ state, locks, lockPath: files.lockPath, layering: files.layering, checkpoints, signal },
      evaluation: options.evaluation,
      async handle(layer, inner) {
        const { end, session } = await handle(call, tool, input, 'nothing', signal, { layer, ...(inner && { inner }) });
        own = session;
        return end;
      },
      judge: end => judged(call, tool, end, NOTHING),
      commit: verdict => (own === undefined ? verdict : committed(own, verdict)),
      notLocked: error => notRun(notLocked(call, error)),
    });
  }

  async function handle(
    call: ProviderToolCall,
    tool: AnyTool,
    input: unknown,
    scope: WriteScope,
    signal?: AbortSignal,
    onLayer?: Pick<ToolContext, 'layer' | 'inner'>,
  ) {
    const session = state.session.begin();
    let ended = false;
    const context = (own: AbortSignal): ToolContext => ({
      callId: call.id,
      session: session.view,
      files: guardedFiles(files ?? noFiles, scope, () => ended),
      root: files?.root ?? null,
      refused: files?.refused ?? [],
      ...onLayer,
      resources: state.resources,
      clock: state.clock,
      rng: state.rng,
      cut: state.cut,
      signal: own,
    });
    const limits = { timers, ...(signal && { signal }) };
    const end: HandlerEnd = await runHandler(tool, input, context, limits);
    ended = true;
    return { end, session };
  }
}

/** The verdict once the session's changes are committed; a failed commit fails the call. */
function committed(session: SessionTransaction, verdict: Verdict): Verdict {
  const done = session.commit();
  if (done.ok) return verdict;
  const error = failure('tool/failed', { message: done.error.message, suggestion: done.error.suggestion });
  return { outcome: { status: 'failed', error, rollback: NOTHING }, succeeded: false, deadline: false };
}

function notRun(error: ToolFailure): Verdict {
  return { outcome: refused(error), succeeded: false, deadline: false };
}

function refused(error: ToolFailure): ToolOutcome {
  return { status: 'failed', error, rollback: NOTHING };
}

function invocationOf(call: ProviderToolCall, outcome: ToolOutcome, elapsedMs: number): ToolInvocation {
  const errorCode = outcome.status === 'succeeded' ? null : outcome.error.code;
  return { callId: call.id, tool: call.name, status: outcome.status, errorCode, elapsedMs };
}

function unknownTool(name: string): ToolFailure {
  return failure('tool/unknown', {
    message: `there is no tool named ${JSON.stringify(name)}`,
    suggestion: 'Use one of the offered tools.',
  });
}

/** The input parsed by the tool's schema, or what is wrong with it. A schema that throws rejects the input. */
function parsed(tool: AnyTool, input: unknown): Result<unknown, string> {
  try {
    const read = tool.input.safeParse(input);
    if (read.success) return ok(read.data);
    const [issue] = read.error.issues;
    return err(`${issue?.path.map(String).join('.') || 'input'}: ${issue?.message}`);
  } catch (cause) {
    return err(thrownMessage(cause));
  }
}

function invalidInput(call: ProviderToolCall, reason: string): ToolFailure {
  return failure('tool/invalid-input', {
    message: `the input of ${call.name} is not valid: ${reason}`,
    suggestion: 'Nothing was run. Correct the input and call again.',
  });
}

function notLocked(call: ProviderToolCall, error: LockError): ToolFailure {
  return error.code === 'state/lock-failed' ? notBegun(call, error) : canceledBefore(call);
}

function canceledBefore(call: ProviderToolCall): ToolFailure {
  return failure('tool/canceled', {
    message: `call ${call.id} of ${call.name} was canceled before it began`,
    suggestion: 'Nothing was run. Call again if you still need it.',
  });
}

function stillHeld(path: string, { call, tool }: { readonly call: string; readonly tool: string }): LockError {
  return failure('state/lock-failed', {
    message: `call ${call} of ${tool} was told to stop and is still running in ${path}`,
    suggestion: 'Wait until it has ended and its changes are undone, then call again.',
    retry: { kind: 'retryable_immediate' },
  });
}

function notBegun(call: ProviderToolCall, error: ErrorEnvelope): ToolFailure {
  const isOwn = error.code === 'state/recovery-needed' || error.code === 'state/lock-failed';
  return failure(isOwn ? error.code : 'state/snapshot-failed', {
    message: `call ${call.id} of ${call.name} did not begin: ${error.message}`,
    suggestion: error.suggestion,
    retry: error.retry,
  });
}

function unseen(programs: readonly GitProgram[]): string {
  return `it changed ${programWords(programs)}. A person must see that first, which is possible only for commands on a layer`;
}

function deadlinePassed(): PromptEvaluationError {
  return failure('tool/deadline', {
    message: 'the deadline of this evaluation has passed',
    suggestion: 'Start a new evaluation with a later deadline.',
  });
}
