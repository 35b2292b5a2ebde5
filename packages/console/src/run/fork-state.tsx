import type { Json, RunId } from '@signalbox/model';
import { useState } from 'react';
import { useClient } from '../server/client-context.ts';
import { useRead } from '../server/use-read.ts';
import { JsonField, readJson } from '../shell/json-field.tsx';

/** The keys that a fork begins with another value for. */
export type StateEdits = Readonly<Record<string, Json>>;

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

function editsOf(
  state: Readonly<Record<string, Json>>,
  typed: Readonly<Record<string, string>>,
): StateEdits | undefined {
  const edits: Record<string, Json> = {};
  for (const [key, text] of Object.entries(typed)) {
    const read = readJson(text);
    if (!read.ok || read.value === undefined) return undefined;
    if (JSON.stringify(read.value) !== JSON.stringify(state[key])) edits[key] = read.value;
  }
  return edits;
}

function textOf(value: Json | undefined): string {
  return JSON.stringify(value, null, 2) ?? '';
}
