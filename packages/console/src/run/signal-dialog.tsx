import type { RunId } from '@signalbox/model';
import { type FormEvent, useState } from 'react';
import { useClient } from '../server/client-context.ts';
import { Dialog } from '../shell/dialog.tsx';
import { JsonField, readJson } from '../shell/json-field.tsx';
import { ErrorBox } from '../shell/notices.tsx';
import { useCommand } from '../shell/use-command.ts';

/** Tells a run something that its plan may wait for. */
export function SignalDialog({ run, onClose }: { readonly run: RunId; onClose(): void }) {
  const client = useClient();
  const { isBusy, error, send } = useCommand();
  const [name, setName] = useState('');
  const [text, setText] = useState('');
  const payload = readJson(text);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (payload.ok && name !== '' && (await send(() => client.signal(run, name, payload.value ?? null)))) onClose();
  };
  return (
    <Dialog title="Send a signal" onClose={onClose}>
      <form onSubmit={submit} className="form">
        <label>
          Name
          <input value={name} required maxLength={256} onChange={event => setName(event.target.value)} />
        </label>
        <JsonField label="Payload, as JSON" text={text} onText={setText} rows={4} />
        {error !== undefined && <ErrorBox error={error} title="It did not work" />}
        <div className="dialog-foot">
          <button type="button" className="button" onClick={onClose}>
            Leave it
          </button>
          <button type="submit" className="button button-main" disabled={isBusy || !payload.ok}>
            Send
          </button>
        </div>
      </form>
    </Dialog>
  );
}
