import type { Json, RunId } from '@signalbox/model';
import { type FormEvent, Suspense, useState } from 'react';
import { useClient } from '../server/client-context.ts';
import { Dialog } from '../shell/dialog.tsx';
import { FormFoot } from '../shell/form-foot.tsx';
import { JsonField, readJson } from '../shell/json-field.tsx';
import { lazyPart } from '../shell/lazy-part.ts';
import { useCommand } from '../shell/use-command.ts';

const SideBySide = lazyPart(() =>
  import('../decisions/side-by-side.tsx').then(({ SideBySide: one }) => ({ default: one })),
);

interface EditDialogProps {
  readonly run: RunId;
  readonly name: string;
  readonly value: Json;
  onClose(): void;
}

/** Edits a key of state, with the difference, a reason, and a confirmation. */
export function EditDialog({ run, name, value, onClose }: EditDialogProps) {
  const client = useClient();
  const { isBusy, error, send } = useCommand();
  const before = JSON.stringify(value, null, 2);
  const [text, setText] = useState(before);
  const [reason, setReason] = useState('');
  const [isArmed, setIsArmed] = useState(false);
  const read = readJson(text);
  const given = read.ok ? read.value : undefined;
  const after = given === undefined ? before : JSON.stringify(given, null, 2);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (given !== undefined && (await send(() => client.edit(run, { key: name, value: given, reason })))) onClose();
  };
  return (
    <Dialog title={`Edit ${name}`} className="dialog-wide" onClose={onClose}>
      <form onSubmit={submit} className="form">
        <JsonField label="Value (JSON)" rows={5} text={text} onText={setText} />
        {after !== before && (
          <div className="change">
            <Suspense>
              <SideBySide before={before} after={after} />
            </Suspense>
          </div>
        )}
        <label>
          Reason (recorded with your name)
          <input required maxLength={1024} value={reason} onChange={event => setReason(event.target.value)} />
        </label>
        <label className="check">
          <input type="checkbox" checked={isArmed} onChange={event => setIsArmed(event.target.checked)} />I understand
          that the plan continues from this value
        </label>
        <FormFoot
          error={error}
          label="Edit"
          isDestructive
          isDisabled={isBusy || !isArmed || given === undefined || after === before || reason === ''}
          onClose={onClose}
        />
      </form>
    </Dialog>
  );
}
