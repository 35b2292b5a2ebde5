import type { Json } from '@signalbox/model';
import { useEffect, useId, useRef } from 'react';

export type ReadJson =
  | { readonly ok: true; readonly value: Json | undefined }
  | { readonly ok: false; readonly why: string };

/** What a person typed; nothing at all is no value. */
export function readJson(text: string): ReadJson {
  if (text.trim() === '') return { ok: true, value: undefined };
  try {
    return { ok: true, value: JSON.parse(text) as Json };
  } catch (thrown) {
    return { ok: false, why: (thrown as SyntaxError).message };
  }
}

interface JsonFieldProps {
  readonly label: string;
  readonly text: string;
  readonly rows: number;
  readonly placeholder?: string;
  /** Whether it takes the focus when it appears. */
  readonly isFirst?: boolean;
  onText(text: string): void;
}

/** Takes a value as JSON, and says at once where it is none. */
export function JsonField({ label, text, rows, placeholder, isFirst = false, onText }: JsonFieldProps) {
  const id = useId();
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    if (isFirst) field.current?.focus();
  }, [isFirst]);
  const read = readJson(text);
  return (
    <div className="jsonfield">
      <label htmlFor={id}>{label}</label>
      <textarea
        ref={field}
        id={id}
        aria-invalid={!read.ok}
        aria-describedby={`${id}-why`}
        placeholder={placeholder}
        rows={rows}
        spellCheck={false}
        value={text}
        onChange={event => onText(event.target.value)}
      />
      <p id={`${id}-why`} role="status" className="jsonfield-why">
        {read.ok ? '' : `This is not JSON: ${read.why}. A text is written in double quotes.`}
      </p>
    </div>
  );
}
