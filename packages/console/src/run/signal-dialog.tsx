import type { RunId } from '@signalbox/model';
import { type FormEvent, useState } from 'react';
import { useClient } from '../server/client-context.ts';
import { Dialog } from '../shell/dialog.tsx';
import { FormFoot } from '../shell/form-foot.tsx';
import { JsonField, readJson } from '../shell/json-field.tsx';
import { useCommand } from '../shell/use-command.ts';

/** Sends a signal that the plan may wait for. */
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
        <JsonField label="Payload (JSON)" text={text} onText={setText} rows={4} />
        <FormFoot error={error} label="Send" isDisabled={isBusy || !payload.ok} onClose={onClose} />
      </form>
    </Dialog>
  );
}
