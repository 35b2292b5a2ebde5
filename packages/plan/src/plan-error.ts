import { type ErrorCode, type ErrorEnvelope, failure, type Json, thrownText } from '@signalbox/model';
import { circumstancesOf, noteCircumstances } from './errors/circumstances.ts';

/** Where the author wrote it. Lines and columns count from 1. */
export interface SourcePosition {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

export type PlanErrorCode = Extract<ErrorCode, `plan/${string}`>;

/** What the engine knows at the time of an error. */
export interface ErrorContext {
  readonly run?: string;
  readonly node?: string;
  readonly frame?: number;
  /** The last three state changes before the error, oldest first. */
  readonly lastChanges?: readonly StateChange[];
}

export interface StateChange {
  readonly key: string;
  readonly frame: number;
  readonly trigger: string;
}

/**
 * An error in a plan, or in what its code did. JSX is an expression, so it is thrown at the author's line; the engine turns it into a
 * failed run and an envelope, once.
 */
export class PlanError extends Error {
  override readonly name: string = 'PlanError';
  readonly code: PlanErrorCode;
  readonly source: SourcePosition | undefined;
  readonly context: ErrorContext;
  readonly suggestion: string | undefined;

  constructor(
    code: PlanErrorCode,
    what: string,
    options: {
      readonly source?: SourcePosition | undefined;
      readonly context?: ErrorContext;
      readonly cause?: unknown;
      /** Instead of the usual one for the code. */
      readonly suggestion?: string;
    } = {},
  ) {
    super(`${what}${positionText(options.source)}${contextText(options.context)}`, { cause: options.cause });
    this.code = code;
    this.source = options.source;
    this.context = options.context ?? {};
    this.suggestion = options.suggestion;
  }
}

/** A handler prop on a node that is not observable. */
export class EventValidationError extends PlanError {
  override readonly name = 'EventValidationError';
}

/** A write while the plan renders. */
export class RenderPhaseWriteError extends PlanError {
  override readonly name = 'RenderPhaseWriteError';
}

/** Work started while the plan renders. */
export class RenderPhaseTaskError extends PlanError {
  override readonly name = 'RenderPhaseTaskError';
}

/** Effects that keep running because of what they write, with the same dependencies or with others each time. */
export class EffectLoopError extends PlanError {
  override readonly name = 'EffectLoopError';
}

const suggestions: Record<PlanErrorCode, string> = {
  'plan/invalid-props': 'Correct the props at that position.',
  'plan/handler-refused': 'Move the handler to the agent, task, human or sub-plan node whose end it waits for.',
  'plan/key-missing': 'Give every item of the list a key that stays the same when the list changes.',
  'plan/duplicate-id': 'Give each of the two nodes an id of its own.',
  'plan/render-failed': 'Correct the component; a render may only read and compute.',
  'plan/render-write': 'Write in an Effect or a handler; use ctx.state.init for a first value.',
  'plan/render-task': 'Start work in a Task or an Effect.',
  'plan/phase-order': 'Report this: the engine left the order of its phases.',
  'plan/handler-failed': 'Correct the handler, then retry the node.',
  'plan/effect-failed': 'Correct the effect.',
  'plan/effect-loop': 'Take what the effect itself writes out of its dependencies.',
  'plan/state-invalid': 'Write a value that the state schema of the plan accepts.',
  'plan/input-invalid': 'Start the run with an input that the schema of the plan accepts.',
  'plan/task-failed': 'Look at the error of the task, then retry the node.',
  'plan/storm': 'Look at the frames that repeat; a plan must not change its own state without end.',
  'plan/load-failed': 'Correct the file at that position.',
  'plan/file-refused': 'Give a path of a text file under the working directory of the run.',
  'plan/place-refused': 'Name the file of a plan in a directory that plans may be started from.',
  'plan/artifact-refused': 'Change what is given to ctx.artifact.',
  'plan/lint-refused':
    'Mend what the linter says, put "// signalbox-ignore RULE" before the line, or run it with --no-lint.',
  'plan/not-a-plan': 'Export the plan as default: export default definePlan({ … }).',
};

/** The envelope of an error that a plan caused; anything but a `PlanError` is reported as a failed render. */
export function planFailure(
  error: unknown,
  fallback: PlanErrorCode = 'plan/render-failed',
): ErrorEnvelope<PlanErrorCode> {
  const known = asPlanError(error, fallback);
  return failure(known.code, {
    message: known.message,
    suggestion: known.suggestion ?? suggestions[known.code],
    ...(Object.keys(known.context).length > 0 ? { details: known.context as Json } : {}),
  });
}

/** A foreign exception, converted once; its text and cause are kept. */
export function asPlanError(error: unknown, code: PlanErrorCode, context: ErrorContext = {}): PlanError {
  if (isPlanError(error)) {
    if (Object.keys(error.context).length > 0 || Object.keys(context).length === 0) return error;
    const named = Object.create(Object.getPrototypeOf(error)) as PlanError;
    noteCircumstances(named, circumstancesOf(error));
    return Object.assign(named, error, {
      message: `${error.message}${contextText(context)}`,
      context,
      stack: error.stack,
      cause: error.cause,
    });
  }
  return new PlanError(code, thrownText(error), {
    source: authorPosition(error),
    context,
    cause: error,
  });
}

/** Even inspecting a value may throw, if it is a proxy. */
function isPlanError(error: unknown): error is PlanError {
  try {
    return error instanceof PlanError;
  } catch {
    return false;
  }
}

/** The first stack frame in a plan's file. Source maps have put the author's lines there. */
export function authorPosition(error: unknown): SourcePosition | undefined {
  const stack = stackOf(error);
  const [, file, line, column] =
    /(?:\(|at )(?:file:\/\/)?([^\s()?]+\.[tj]sx)(?:\?[^\s():]*)?:(\d+):(\d+)/.exec(stack) ?? [];
  return file === undefined ? undefined : { file, line: Number(line), column: Number(column) };
}

function stackOf(error: unknown): string {
  try {
    return error instanceof Error ? String(error.stack ?? '') : '';
  } catch {
    return '';
  }
}

export function positionOf(source: SourcePosition | undefined): string {
  return source === undefined ? 'an unknown position' : `${source.file}:${source.line}:${source.column}`;
}

function positionText(source: SourcePosition | undefined): string {
  return source === undefined ? '' : ` at ${positionOf(source)}`;
}

function contextText(context: ErrorContext | undefined): string {
  if (context === undefined) return '';
  const parts = [
    context.run === undefined ? [] : [`run ${context.run}`],
    context.node === undefined ? [] : [`node ${context.node}`],
    context.frame === undefined ? [] : [`frame ${context.frame}`],
    (context.lastChanges?.length ?? 0) === 0
      ? []
      : [
          `last changes ${context.lastChanges?.map(change => `${change.key} (frame ${change.frame}, ${change.trigger})`).join(', ')}`,
        ],
  ].flat();
  return parts.length === 0 ? '' : ` [${parts.join('; ')}]`;
}
