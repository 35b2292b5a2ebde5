import type { Answer } from '@signalbox/client';
import type { Json, RunId, RunSummary } from '@signalbox/model';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { useClient } from '../server/client-context.ts';
import { useRead } from '../server/use-read.ts';
import { useSettings } from '../settings/settings.ts';
import { Dialog } from '../shell/dialog.tsx';
import { JsonField, readJson } from '../shell/json-field.tsx';
import { ErrorBox } from '../shell/notices.tsx';
import { useCommand } from '../shell/use-command.ts';

/** What a fork may be told. */
interface ForkOptions {
  readonly name?: string;
  readonly input?: Json;
  readonly confirmed?: true;
  readonly paused?: true;
  readonly acceptEffects?: true;
}

interface ForkDialogProps {
  readonly run: RunId;
  readonly title: string;
  fork(options: ForkOptions): Answer<RunSummary>;
  onClose(): void;
}

/** Branches a new run off. The run it comes from stays as it is. */
export function ForkDialog({ run, title, fork, onClose }: ForkDialogProps) {
  const client = useClient();
  const navigate = useNavigate();
  const { dangerous } = useSettings();
  const { isBusy, error, send } = useCommand();
  const { data } = useRead(['input', run], () => client.run(run));
  const [name, setName] = useState('');
  const [typed, setTyped] = useState<string>();
  const [isPaused, setIsPaused] = useState(false);
  const [isAccepted, setIsAccepted] = useState(false);
  const before = data === undefined ? '' : JSON.stringify(data.input, null, 2);
  const text = typed ?? before;
  const input = readJson(text);
  const isChanged =
    data !== undefined && input.ok && JSON.stringify(input.value ?? null) !== JSON.stringify(data.input);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (!input.ok) return;
    let made: RunId | undefined;
    const isDone = await send(async () => {
      const forked = await fork({
        ...(name !== '' && { name }),
        ...(isChanged && { input: input.value ?? null, confirmed: true }),
        ...(isPaused && { paused: true }),
        ...(isAccepted && { acceptEffects: true }),
      });
      if (forked.ok) made = forked.value.id;
      return forked;
    });
    if (!isDone || made === undefined) return;
    onClose();
    void navigate({ to: '/runs/$run', params: { run: made }, search: {} });
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <form onSubmit={submit} className="form">
        <p className="text-muted">A new run begins there. This one stays as it is.</p>
        <label>
          Its name, if another
          <input maxLength={256} value={name} onChange={event => setName(event.target.value)} />
        </label>
        {dangerous === 'ask' && <JsonField label="Its input, as JSON" rows={5} text={text} onText={setTyped} />}
        {isChanged && <p className="risk">It goes on with another input than what it did so far was done with.</p>}
        <label className="check">
          <input type="checkbox" checked={isPaused} onChange={event => setIsPaused(event.target.checked)} />
          Begin paused
        </label>
        <label className="check">
          <input type="checkbox" checked={isAccepted} onChange={event => setIsAccepted(event.target.checked)} />
          Go on even if something was done outside that cannot be undone
        </label>
        {error !== undefined && <ErrorBox error={error} title="It did not work" />}
        <div className="dialog-foot">
          <button type="button" className="button" onClick={onClose}>
            Leave it
          </button>
          <button type="submit" className="button button-main" disabled={isBusy || !input.ok}>
            Fork
          </button>
        </div>
      </form>
    </Dialog>
  );
}
