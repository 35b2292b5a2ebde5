import type { JsonObject } from '@signalbox/model';
import { type FormEvent, useState } from 'react';
import { JsonField, readJson } from '../shell/json-field.tsx';
import type { Answering } from './use-answer.ts';

interface ModifyFormProps {
  readonly args: JsonObject;
  readonly answering: Answering;
  onClose(): void;
}

/** Approves a call with other arguments than it asked for. */
export function ModifyForm({ args, answering, onClose }: ModifyFormProps) {
  const [text, setText] = useState(() => JSON.stringify(args, null, 2));
  const read = readJson(text);
  const given = read.ok ? read.value : undefined;
  const isObject = typeof given === 'object' && given !== null && !Array.isArray(given);
  const send = (event: FormEvent) => {
    event.preventDefault();
    if (isObject) void answering.say({ kind: 'modify', args: given as JsonObject });
  };
  return (
    <form onSubmit={send} onKeyDown={event => event.key === 'Escape' && onClose()} className="form">
      <JsonField label="The arguments it gets instead" text={text} onText={setText} rows={8} isFirst />
      <div className="answers">
        <button type="submit" className="button button-go" disabled={answering.isBusy || !isObject}>
          Approve with these
        </button>
        <button type="button" className="button" onClick={onClose}>
          Leave it
        </button>
      </div>
    </form>
  );
}
