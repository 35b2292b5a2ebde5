import type { JsonObject } from '@signalbox/model';
import { type FormEvent, useState } from 'react';
import { JsonField, readJson } from '../shell/json-field.tsx';
import type { Answering } from './use-answer.ts';

interface ModifyFormProps {
  readonly args: JsonObject;
  readonly answering: Answering;
  /** The agent of another vendor that asks: its protocol carries no changed arguments. */
  readonly agent: string | undefined;
  onClose(): void;
}

/** Answers a call with changed arguments. */
export function ModifyForm({ args, answering, agent, onClose }: ModifyFormProps) {
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
      <JsonField label="New arguments" text={text} onText={setText} rows={8} isFirst />
      {agent !== undefined && (
        <p className="text-muted">
          {agent} cannot be given changed arguments directly: this call is rejected, and {agent} is asked to make it
          again with exactly these. That call then runs without another question.
        </p>
      )}
      <div className="answers">
        <button type="submit" className="button button-go" disabled={answering.isBusy || !isObject}>
          {agent === undefined ? 'Approve with changes' : 'Ask for these arguments'}
        </button>
        <button type="button" className="button" onClick={onClose}>
          Cancel
        </button>
      </div>
    </form>
  );
}
