import type { ArtifactId, ErrorEnvelope, Json } from '@signalbox/model';
import type { ArtifactAccess } from '../artifacts/artifact-access.ts';
import type { FileAccess } from '../workspaces/plan-files.ts';
import type { WorkspaceAccess } from '../workspaces/workspace-access.ts';

/** The argument of a `Task` function. */
export interface TaskContext {
  readonly input: Json;
  /** Aborted when the node leaves the plan, an operator cancels it, or its time is over. */
  readonly signal: AbortSignal;
  /** The iteration of the innermost loop around the node, from 0. */
  readonly iteration: number;
  /** 1 for the first attempt. */
  readonly attempt: number;
  progress(progress: TaskProgress): void;
  /** An artifact is durable when its promise resolves, and at the latest when the task ends. */
  readonly artifact: ArtifactAccess<Promise<ArtifactId>>;
  readonly fs: FileAccess;
  /** The run's workspace, if it has one. */
  readonly workspace: WorkspaceAccess | undefined;
}

export interface TaskProgress {
  readonly summary: string;
  /** From 0 to 1. */
  readonly fraction?: number;
}

/** Why work failed for good. */
export interface TaskFailure {
  readonly error: ErrorEnvelope;
  readonly attempts: number;
}

/** The author's handlers of a node. Never part of the stored tree. */
export interface NodeHandlers {
  readonly onFinished?: (output: never) => void;
  readonly onError?: (error: TaskFailure) => void;
  readonly onFailed?: (error: TaskFailure) => void;
  readonly onDenied?: (error: TaskFailure) => void;
  readonly onProgress?: (progress: TaskProgress) => void;
  readonly onBlocked?: (reason: string) => void;
}

export const handlerNames = [
  'onFinished',
  'onError',
  'onProgress',
  'onBlocked',
  'onFailed',
  'onDenied',
] as const satisfies readonly (keyof NodeHandlers)[];
export type HandlerName = (typeof handlerNames)[number];

const ofEnd: ReadonlySet<string> = new Set(['onFinished', 'onError', 'onFailed', 'onDenied']);

/** Whether the handler takes in the end of its node's work: one that fails is called again. */
export function isOfEnd(handler: string): boolean {
  return ofEnd.has(handler);
}

/** The names of the handlers, in a fixed order. */
export function namesOf(handlers: NodeHandlers): readonly HandlerName[] {
  return handlerNames.filter(name => handlers[name] !== undefined);
}
