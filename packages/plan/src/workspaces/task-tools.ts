import { createTaskArtifacts } from '../artifacts/task-artifacts.ts';
import type { CommitsAhead } from '../frames/commits-ahead.ts';
import type { PlanRunOptions } from '../frames/engine-options.ts';
import type { TaskRequest } from '../frames/task-executor.ts';
import type { TaskContext } from '../nodes/handlers.ts';
import type { FileBook } from './file-book.ts';

/** What the function of a task gets besides its input. */
export interface TaskTools extends Pick<TaskContext, 'artifact' | 'fs' | 'workspace'> {
  /** Resolves when the task may end. */
  settled(): Promise<void>;
}

export function taskTools(
  options: PlanRunOptions,
  files: FileBook,
  request: TaskRequest,
  ahead: Pick<CommitsAhead, 'durable'>,
): TaskTools {
  const artifacts = createTaskArtifacts(options, request, files.bytes, ahead.durable);
  return {
    artifact: artifacts.access,
    fs: files.taskAccess(request.node.id),
    workspace: options.workspace,
    settled: artifacts.settled,
  };
}
