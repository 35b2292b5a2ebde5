import { type ErrorEnvelope, err, failure, ok, type Result, type RunId } from '@signalbox/model';
import type { WorkspaceRequest } from '../threads/thread-api.ts';
import type { WorkspaceDesk } from './workspace-desk.ts';

/** Performs the file operations of a run's work. */
export async function workWithFiles(
  desk: WorkspaceDesk | undefined,
  run: RunId,
  request: WorkspaceRequest,
): Promise<Result<string, ErrorEnvelope>> {
  if (desk === undefined) return err(noWorkspaces());
  switch (request.kind) {
    case 'snapshot':
      return desk.snapshot(run);
    case 'rollback': {
      const back = await desk.rollback(run, request.ref);
      return back.ok ? ok(request.ref) : back;
    }
    case 'diff': {
      const diff = await desk.diff(run, request.from, request.to);
      return diff.ok ? ok(diff.value.patch) : diff;
    }
  }
}

export function noWorkspaces(): ErrorEnvelope<'workspace/none'> {
  return failure('workspace/none', {
    message: 'The plan needs a workspace, and none are available here.',
    suggestion: 'Run it with "signalbox run".',
  });
}
