import type { Answer } from '@signalbox/client';
import type { Json, RunId, RunSummary } from '@signalbox/model';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { useClient } from '../server/client-context.ts';
import { readPages } from '../server/read-pages.ts';
import { useRead } from '../server/use-read.ts';
import { useSettings } from '../settings/settings.ts';
import { Dialog } from '../shell/dialog.tsx';
import { FormFoot } from '../shell/form-foot.tsx';
import { JsonField, readJson } from '../shell/json-field.tsx';
import { useCommand } from '../shell/use-command.ts';

/** The options of a fork. */
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

/** Forks a new run. The original run does not change. */
export function ForkDialog({ run, title, fork, onClose }: ForkDialogProps) {
  const client = useClient();
  const navigate = useNavigate();
  const { dangerous } = useSettings();
  const { isBusy, error, send } = useCommand();
  const { data } = useRead(['input', run], () => client.run(run));
  // Read each time that the dialog opens.
  const [opened] = useState(() => crypto.randomUUID());
  const { data: pages = [] } = useRead(['undone', run, opened], () =>
    readPages(page => client.checkpoints(run, { limit: 1000, ...page })),
  );
  const undone = pages
    .flatMap(page => page.checkpoints)
    .filter(one => one.undone && one.changesFiles)
    .map(one => one.call);
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
        <p className="text-muted">A new run begins there. This one does not change.</p>
        <label>
          Run name (optional)
          <input maxLength={256} value={name} onChange={event => setName(event.target.value)} />
        </label>
        {dangerous === 'ask' && <JsonField label="Input (JSON)" rows={5} text={text} onText={setTyped} />}
        {isChanged && <p className="risk">The new run continues with an input that its earlier work did not use.</p>}
        <label className="check">
          <input type="checkbox" checked={isPaused} onChange={event => setIsPaused(event.target.checked)} />
          Start paused
        </label>
        <label className="check">
          <input type="checkbox" checked={isAccepted} onChange={event => setIsAccepted(event.target.checked)} />
          Continue despite effects outside that cannot be undone
        </label>
        {undone.length > 0 && (
          <p className="risk">
            Its files will be without the changes of calls that were undone, though its agents remember them as done:{' '}
            {undone.join(', ')}
          </p>
        )}
        <FormFoot error={error} label="Fork" isDisabled={isBusy || !input.ok} onClose={onClose} />
      </form>
    </Dialog>
  );
}
