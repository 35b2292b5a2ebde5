import type { Json, RunId } from '@signalbox/model';
import { useState } from 'react';
import { useClient } from '../server/client-context.ts';
import { useRead } from '../server/use-read.ts';
import { JsonField } from '../shell/json-field.tsx';
import { editsOf, type StateEdits } from './fork-edits.ts';

interface ForkStateProps {
  readonly run: RunId;
  readonly frame: number;
  /** Undefined while something typed is not JSON. */
  onEdits(edits: StateEdits | undefined): void;
}

/** More keys than this are shown when asked for. */
const SHOWN = 8;

/** The state of a frame, to be changed for a fork. */
export function ForkState({ run, frame, onEdits }: ForkStateProps) {
  const client = useClient();
  const { data } = useRead(['state', run, frame], () => client.state(run, frame));
  const [typed, setTyped] = useState<Readonly<Record<string, string>>>({});
  const state = data?.state ?? {};
  const keys = Object.keys(state);
  if (keys.length === 0) return null;
  const type = (key: string, text: string) => {
    const now = { ...typed, [key]: text };
    setTyped(now);
    onEdits(editsOf(state, now));
  };
  const fields = keys.map(key => (
    <JsonField
      key={key}
      label={key}
      rows={Math.min(6, textOf(state[key]).split('\n').length)}
      text={typed[key] ?? textOf(state[key])}
      onText={text => type(key, text)}
    />
  ));
  return (
    <details className="more" open={keys.length <= SHOWN}>
      <summary>State of frame {frame} (JSON)</summary>
      <div className="form">{fields}</div>
    </details>
  );
}

function textOf(value: Json | undefined): string {
  return JSON.stringify(value, null, 2) ?? '';
}
