import type { Json } from '@signalbox/model';
import { useState } from 'react';
import { isObject } from '../story/json-object.ts';
import type { Field } from '../story/schema-fields.ts';
import { JsonField, readJson } from './json-field.tsx';

interface SchemaFormProps {
  readonly fields: readonly Field[];
  /** The value as JSON: what the fields show, and what they make. */
  readonly text: string;
  onText(text: string): void;
  /** What is wrong with a field, by its name. */
  readonly errors?: Readonly<Record<string, string>>;
}

const noErrors = {};

/** One field for each property of an object. */
export function SchemaForm({ fields, text, onText, errors = noErrors }: SchemaFormProps) {
  const read = readJson(text);
  const value = read.ok && isObject(read.value) ? read.value : {};
  const put = (name: string, given: Json | undefined) => {
    const { [name]: _, ...rest } = value;
    onText(JSON.stringify(given === undefined ? rest : { ...rest, [name]: given }));
  };
  return fields.map(field => {
    const error = errors[field.name];
    return (
      <div key={field.name} className="schema-field" data-wrong={error === undefined ? undefined : true}>
        <OneField field={field} value={value[field.name]} onValue={put} />
        {error !== undefined && (
          <p role="alert" className="jsonfield-why">
            {field.name}: {error}
          </p>
        )}
      </div>
    );
  });
}

interface OneFieldProps {
  readonly field: Field;
  readonly value: Json | undefined;
  onValue(name: string, value: Json | undefined): void;
}

function OneField({ field: { name, kind, options, isRequired, about, given }, value, onValue }: OneFieldProps) {
  const hint = about ?? (given === undefined ? undefined : `without one: ${JSON.stringify(given)}`);
  const words = `${name}${isRequired ? '' : ' (if you like)'}`;
  const shown = value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value);
  switch (kind) {
    case 'boolean':
      return (
        <label className="check">
          <input
            type="checkbox"
            checked={(value ?? given) === true}
            onChange={event => onValue(name, event.target.checked)}
          />
          {name}
        </label>
      );
    case 'choice':
      return (
        <label>
          {words}
          <select value={shown} onChange={event => onValue(name, event.target.value || undefined)}>
            <option value="">{hint ?? '–'}</option>
            {options.map(option => (
              <option key={option}>{option}</option>
            ))}
          </select>
        </label>
      );
    case 'number':
      return (
        <label>
          {words}
          <input
            type="number"
            step="any"
            required={isRequired}
            placeholder={hint}
            value={typeof value === 'number' ? value : ''}
            onChange={({ target }) => onValue(name, target.value === '' ? undefined : target.valueAsNumber)}
          />
        </label>
      );
    case 'text':
      return (
        <label>
          {words}
          <input
            required={isRequired}
            placeholder={hint}
            value={shown}
            onChange={({ target }) => onValue(name, target.value === '' ? undefined : target.value)}
          />
        </label>
      );
    case 'json':
      return <JsonProperty name={name} label={`${words}, as JSON`} hint={hint} value={value} onValue={onValue} />;
  }
}

interface JsonPropertyProps {
  readonly name: string;
  readonly label: string;
  readonly hint: string | undefined;
  readonly value: Json | undefined;
  onValue(name: string, value: Json | undefined): void;
}

function JsonProperty({ name, label, hint, value, onValue }: JsonPropertyProps) {
  const [text, setText] = useState(value === undefined ? '' : JSON.stringify(value));
  return (
    <JsonField
      label={label}
      text={text}
      rows={2}
      {...(hint !== undefined && { placeholder: hint })}
      onText={typed => {
        setText(typed);
        const read = readJson(typed);
        if (read.ok) onValue(name, read.value);
      }}
    />
  );
}
