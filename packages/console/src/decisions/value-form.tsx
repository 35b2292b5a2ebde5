import type { Json } from '@signalbox/model';
import { type FormEvent, useState } from 'react';
import { JsonField, readJson } from '../shell/json-field.tsx';
import { SchemaForm } from '../shell/schema-form.tsx';
import { fieldsOf } from '../story/schema-fields.ts';

interface ValueFormProps {
  /** A JSON Schema: the server checks the value. */
  readonly schema: Json;
  readonly isBusy: boolean;
  onValue(value: Json): void;
}

/** Takes a value: field by field where the schema says which there are, else as JSON. */
export function ValueForm({ schema, isBusy, onValue }: ValueFormProps) {
  const [text, setText] = useState('');
  const fields = fieldsOf(schema);
  const read = readJson(text);
  const send = (event: FormEvent) => {
    event.preventDefault();
    if (read.ok && read.value !== undefined) onValue(read.value);
  };
  return (
    <form onSubmit={send} className="form">
      {fields === undefined ? (
        <JsonField
          label="Your answer, as JSON"
          placeholder={JSON.stringify(schema)}
          rows={3}
          text={text}
          onText={setText}
        />
      ) : (
        <SchemaForm fields={fields} text={text} onText={setText} />
      )}
      <div>
        <button type="submit" className="button button-go" disabled={isBusy || !read.ok || read.value === undefined}>
          Answer
        </button>
      </div>
    </form>
  );
}
