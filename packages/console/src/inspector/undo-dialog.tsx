import type { RunId, WireCheckpoint } from '@signalbox/model';
import { Confirm } from '../frame/confirm.tsx';
import { ErrorBox } from '../frame/notices.tsx';
import { useClient } from '../server/client-context.ts';
import { useRead } from '../server/use-read.ts';

interface UndoDialogProps {
  readonly run: RunId;
  readonly checkpoint: WireCheckpoint;
  onUndo(): void;
  onClose(): void;
}

/** Shows which files a call's undoing would put back, before it does. */
export function UndoDialog({ run, checkpoint: { call, tool }, onUndo, onClose }: UndoDialogProps) {
  const client = useClient();
  const { data, error } = useRead(['undo', run, call], () => client.undo(run, { call, dryRun: true }));
  return (
    <Confirm title={`Undo ${tool}?`} word="Undo" onConfirm={onUndo} onClose={onClose}>
      {error !== null && <ErrorBox error={error} title="It cannot be undone" />}
      {data !== undefined && (
        <>
          <p>These files go back to what they were before the call:</p>
          <ul className="mono">
            {data.paths.map(path => (
              <li key={path}>{path}</li>
            ))}
          </ul>
          {data.lost.length > 0 && <p className="risk">What was written to {data.lost.join(', ')} since is lost.</p>}
        </>
      )}
    </Confirm>
  );
}
