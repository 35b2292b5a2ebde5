import type { ErrorEnvelope, Result } from '@signalbox/model';
import type { WorkspaceAccess } from '@signalbox/plan';
import type { RunWorkspace } from '@signalbox/runs';
import type { WorkspaceRequest } from '../threads/thread-api.ts';

/** The workspace of a run in its plan's thread: the host does the operations. */
export function threadWorkspace(
  { path, vcs }: RunWorkspace,
  ask: (request: WorkspaceRequest) => Promise<Result<string, ErrorEnvelope>>,
): WorkspaceAccess {
  const answered = async (request: WorkspaceRequest): Promise<string> => {
    const answer = await ask(request);
    if (answer.ok) return answer.value;
    throw Object.assign(new Error(answer.error.message), { code: answer.error.code });
  };
  return {
    path,
    vcs,
    snapshot: () => answered({ kind: 'snapshot' }),
    async rollback(ref) {
      await answered({ kind: 'rollback', ref });
    },
    diff: (from, to) => answered({ kind: 'diff', from, to }),
  };
}
