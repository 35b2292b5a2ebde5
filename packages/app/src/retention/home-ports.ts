import { type Clock, ok } from '@signalbox/model';
import { isOwnWorkspace, type WorkspaceDesk } from '../workspaces/workspace-desk.ts';
import type { RetentionDeskPorts } from './retention-desk.ts';
import { bytesUnder } from './run-folders.ts';

/** Workspaces and guided sessions, which are collected together with runs in a complete data directory. */
export function homeRetention(
  dataDirectory: string,
  clock: Clock,
  workspaces: Pick<WorkspaceDesk, 'remove'>,
): Pick<RetentionDeskPorts, 'removeWorkspace' | 'collectSessions'> {
  return {
    async removeWorkspace(record, dryRun) {
      const { id, workspace } = record;
      const bytes = workspace !== undefined && isOwnWorkspace(id, workspace) ? bytesUnder(workspace.path) : 0;
      if (!dryRun) await workspaces.remove(record);
      return bytes;
    },
    async collectSessions({ dryRun, sweepBlobs }) {
      const { collectSessions } = await import('../guided/guided-home.ts');
      const done = await collectSessions({ dataDirectory, clock, dryRun, sweepBlobs });
      if (!done.ok) return done;
      const { expired, bytes, untrusted } = done.value;
      const why = untrusted.map(({ journal, health }) => `the journal ${journal} is ${health}`);
      return ok({ count: expired.length, bytes, untrusted: why });
    },
  };
}
