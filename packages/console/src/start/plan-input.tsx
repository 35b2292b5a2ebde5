import type { PlanDescription } from '@signalbox/model';
import { useEffect, useRef, useState } from 'react';
import { JsonField, readJson } from '../shell/json-field.tsx';
import { ErrorBox } from '../shell/notices.tsx';
import { SchemaForm } from '../shell/schema-form.tsx';
import { fieldsOf } from '../story/schema-fields.ts';
import { startWords as words } from './start-words.ts';

interface PlanInputProps {
  readonly plan: PlanDescription | undefined;
  readonly isReading: boolean;
  readonly text: string;
  onText(text: string): void;
  readonly errors: Readonly<Record<string, string>>;
  /** Focuses its first field once it is there. */
  readonly takesFocus?: boolean;
}

/** The input of a run: a field for each input of the plan, or JSON. */
export function PlanInput({ plan, isReading, text, onText, errors, takesFocus = false }: PlanInputProps) {
  const [wantsJson, setWantsJson] = useState(false);
  const fields = fieldsOf(plan?.inputSchema);
  // Typed text that is not yet JSON stays where it was typed.
  const isForm = fields !== undefined && !wantsJson && readJson(text).ok;
  const part = useRef<HTMLFieldSetElement>(null);
  useEffect(() => {
    if (!takesFocus || isReading) return;
    const first = part.current?.querySelector<HTMLInputElement | HTMLTextAreaElement>('input, textarea, select');
    first?.focus();
    if (first instanceof HTMLInputElement) first.select();
  }, [takesFocus, isReading]);
  return (
    <fieldset ref={part} className="form plan-input">
      <legend className="eyebrow">{words.input}</legend>
      {plan?.description !== undefined && <p className="text-muted">{plan.description}</p>}
      {plan?.problem !== undefined && <ErrorBox error={plan.problem} title={words.schemaUnknown} />}
      {isReading && <p className="text-faint">{words.readingInput}</p>}
      {isReading ? null : isForm ? (
        <SchemaForm fields={fields} text={text} onText={onText} errors={errors} />
      ) : (
        <JsonField label={words.json} placeholder={words.jsonPlaceholder} rows={7} text={text} onText={onText} />
      )}
      {fields !== undefined && (
        <button type="button" className="linklike text-working" onClick={() => setWantsJson(!wantsJson)}>
          {wantsJson ? words.useForm : words.useJson}
        </button>
      )}
    </fieldset>
  );
}
