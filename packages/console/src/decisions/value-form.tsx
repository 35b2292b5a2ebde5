import type { Json } from '@signalbox/model';
import { type FormEvent, useState } from 'react';

interface ValueFormProps {
  /** A JSON Schema, shown as it is: the server checks the value. */
  readonly schema: Json;
  readonly isBusy: boolean;
  onValue(value: Json): void;
}

/** Takes a value as JSON. */
export function ValueForm({ schema, isBusy, onValue }: ValueFormProps) {
  const [text, setText] = useState('');
  const [isWrong, setIsWrong] = useState(false);
  const send = (event: FormEvent) => {
    event.preventDefault();
    try {
      onValue(JSON.parse(text));
      setIsWrong(false);
    } catch {
      setIsWrong(true);
    }
  };
  return (
    <form onSubmit={send} className="valueform">
      <details>
        <summary>What is wanted</summary>
        <pre>{JSON.stringify(schema, null, 1)}</pre>
      </details>
      <textarea
        aria-label="Your answer, as JSON"
        aria-invalid={isWrong}
        placeholder="your answer, as JSON"
        rows={3}
        value={text}
        onChange={event => setText(event.target.value)}
      />
      {isWrong && (
        <p role="alert" className="text-failed">
          This is not JSON. A text is written in double quotes.
        </p>
      )}
      <button type="submit" className="button button-main" disabled={isBusy}>
        Answer
      </button>
    </form>
  );
}
