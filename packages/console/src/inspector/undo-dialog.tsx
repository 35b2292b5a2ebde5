import type { RunId, WireCheckpoint } from '@signalbox/model';
import { useClient } from '../server/client-context.ts';
import { useRead } from '../server/use-read.ts';
import { Confirm } from '../shell/confirm.tsx';
import { ErrorBox } from '../shell/notices.tsx';

interface UndoDialogProps {
  readonly run: RunId;
  readonly checkpoint: WireCheckpoint;
  /** Bring back what its rollback overwrote, instead of undoing the call. */
  readonly kept?: boolean;
  onUndo(): void;
  onClose(): void;
}

/** Shows which files a call's undoing would put back, before it does. */
export function UndoDialog({ run, checkpoint: { call, tool }, kept = false, onUndo, onClose }: UndoDialogProps) {
  const client = useClient();
  const { data, error } = useRead(['undo', run, call, kept], () => client.undo(run, { call, dryRun: true, kept }));
  const title = kept ? `Bring back what was kept of ${tool}?` : `Undo ${tool}?`;
  return (
    <Confirm title={title} word={kept ? 'Bring back' : 'Undo'} onConfirm={onUndo} onClose={onClose}>
      {error !== null && <ErrorBox error={error} title={kept ? 'It cannot be brought back' : 'It cannot be undone'} />}
      {data !== undefined && (
        <>
          <p>
            {kept
              ? 'These paths get back what the rollback of the call overwrote or removed:'
              : 'These files go back to what they were before the call:'}
          </p>
          <ul className="mono">
            {data.paths.map(path => (
              <li key={path}>{path}</li>
            ))}
          </ul>
          {data.conflicts !== undefined && data.conflicts.length > 0 && (
            <p className="risk">Changed since, and left as they are: {data.conflicts.join(', ')}.</p>
          )}
          {data.lost.length > 0 && <p className="risk">What was written to {data.lost.join(', ')} since is lost.</p>}
        </>
      )}
    </Confirm>
  );
}
