import type { RunId, WireCheckpoint } from '@signalbox/model';
import { PatchFiles } from '../run/patch.tsx';
import { useClient } from '../server/client-context.ts';
import { useRead } from '../server/use-read.ts';
import { Confirm } from '../shell/confirm.tsx';
import { ErrorBox } from '../shell/notices.tsx';

interface UndoDialogProps {
  readonly run: RunId;
  readonly checkpoint: WireCheckpoint;
  /** Brings back what the call's rollback overwrote, instead of undoing the call. */
  readonly kept?: boolean;
  onUndo(): void;
  onClose(): void;
}

/** Shows the files that undoing a call would restore, before it does. */
export function UndoDialog({ run, checkpoint: { call, tool }, kept = false, onUndo, onClose }: UndoDialogProps) {
  const client = useClient();
  const { data, error } = useRead(['undo', run, call, kept], () =>
    client.undo(run, { call, dryRun: true, kept, ...(!kept && { diff: true }) }),
  );
  const title = kept ? `Bring back the kept files of ${tool}?` : `Undo ${tool}?`;
  return (
    <Confirm
      title={title}
      word={kept ? 'Bring back' : 'Undo'}
      // What the call wrote is kept: only later changes of others would be lost.
      isSafe={data !== undefined && data.lost.length === 0}
      onConfirm={onUndo}
      onClose={onClose}
    >
      {error !== null && (
        <ErrorBox error={error} title={kept ? 'Cannot bring back the files' : 'Cannot undo the call'} />
      )}
      {data !== undefined && (
        <>
          <p>
            {kept
              ? 'These paths get back the content that the rollback of the call overwrote or removed:'
              : 'These files return to their content before the call:'}
          </p>
          <ul className="mono">
            {data.paths.map(path => (
              <li key={path}>{path}</li>
            ))}
          </ul>
          {data.diff !== undefined && data.diff !== '' && <PatchFiles patch={data.diff} />}
          {data.conflicts !== undefined && data.conflicts.length > 0 && (
            <p className="risk">Changed since, and left unchanged: {data.conflicts.join(', ')}.</p>
          )}
          {data.lost.length > 0 && <p className="risk">Later changes to {data.lost.join(', ')} will be lost.</p>}
        </>
      )}
    </Confirm>
  );
}
