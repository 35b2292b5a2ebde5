import type { RunId, WireCheckpoint } from '@signalbox/model';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { useClient } from '../server/client-context.ts';
import { useRead } from '../server/use-read.ts';
import { Dialog } from '../shell/dialog.tsx';
import { FormFoot } from '../shell/form-foot.tsx';
import { ErrorBox } from '../shell/notices.tsx';
import { useCommand } from '../shell/use-command.ts';
import { canRollBack, rollbackWords } from './rollback-words.ts';

interface RollbackDialogProps {
  readonly run: RunId;
  readonly checkpoint: WireCheckpoint;
  onClose(): void;
}

/** Shows what a rollback to before or after a call would undo, and opens the run that continues from there. */
export function RollbackDialog({ run, checkpoint: { call, tool }, onClose }: RollbackDialogProps) {
  const client = useClient();
  const navigate = useNavigate();
  const { isBusy, error, send } = useCommand();
  // Files may have changed since the dialog was last open.
  const [openedAt] = useState(() => Date.now());
  const [isAfter, setIsAfter] = useState(false);
  const [isPaused, setIsPaused] = useState(false);
  const [isAccepted, setIsAccepted] = useState(false);
  const moment = { call, ...(isAfter && { after: true }) };
  const { data, error: refusal } = useRead(['rollback', run, call, isAfter, openedAt], () =>
    client.rollback(run, { ...moment, dryRun: true }),
  );
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    let made: RunId | undefined;
    await send(async () => {
      const paused = isPaused && { paused: true };
      const done = await client.rollback(run, { ...moment, ...paused, ...(isAccepted && { acceptEffects: true }) });
      if (done.ok) made = done.value.run;
      return done;
    });
    if (made === undefined) return;
    onClose();
    void navigate({ to: '/runs/$run', params: { run: made }, search: {} });
  };
  return (
    <Dialog title={`Roll back to ${tool}?`} onClose={onClose}>
      <form onSubmit={submit} className="form">
        <p className="text-muted">
          This run is stopped and keeps its history. A new run continues from there, in the same directory.
        </p>
        {refusal !== null && <ErrorBox error={refusal} title="Cannot roll back" />}
        {data !== undefined && (
          <>
            <p>{rollbackWords(data)}</p>
            <ul className="mono">
              {data.paths.map(path => (
                <li key={path}>{path}</li>
              ))}
            </ul>
            {data.lost.length > 0 && <p className="risk">Cannot be undone: {data.lost.join(', ')}.</p>}
            {data.effects.length > 0 && <p className="risk">Unchanged: {data.effects.join(', ')}.</p>}
          </>
        )}
        <label className="check">
          <input type="checkbox" checked={isAfter} onChange={event => setIsAfter(event.target.checked)} />
          Keep this call, and go back to right after it
        </label>
        <label className="check">
          <input type="checkbox" checked={isPaused} onChange={event => setIsPaused(event.target.checked)} />
          Start paused
        </label>
        {data !== undefined && data.effects.length > 0 && (
          <label className="check">
            <input type="checkbox" checked={isAccepted} onChange={event => setIsAccepted(event.target.checked)} />
            Accept the remaining effects
          </label>
        )}
        <FormFoot
          error={error}
          label="Roll back"
          isDestructive
          isDisabled={isBusy || !canRollBack(data, isAccepted)}
          onClose={onClose}
        />
      </form>
    </Dialog>
  );
}
