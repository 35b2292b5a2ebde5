import type { PlanDescription } from '@signalbox/model';
import { useState } from 'react';
import { JsonField, readJson } from '../shell/json-field.tsx';
import { ErrorBox } from '../shell/notices.tsx';
import { SchemaForm } from '../shell/schema-form.tsx';
import { fieldsOf } from '../story/schema-fields.ts';

interface PlanInputProps {
  readonly plan: PlanDescription | undefined;
  readonly isReading: boolean;
  readonly text: string;
  onText(text: string): void;
  readonly errors: Readonly<Record<string, string>>;
}

/** What a run of a plan is given: a field for each thing that the plan takes, or JSON. */
export function PlanInput({ plan, isReading, text, onText, errors }: PlanInputProps) {
  const [wantsJson, setWantsJson] = useState(false);
  const fields = fieldsOf(plan?.inputSchema);
  // What is typed and not yet JSON stays where it was typed.
  const isForm = fields !== undefined && !wantsJson && readJson(text).ok;
  return (
    <fieldset className="form plan-input">
      <legend className="eyebrow">What it is given</legend>
      {plan?.description !== undefined && <p className="text-muted">{plan.description}</p>}
      {plan?.problem !== undefined && <ErrorBox error={plan.problem} title="What this plan takes is not known" />}
      {isReading && <p className="text-faint">Reading what the plan takes…</p>}
      {isReading ? null : isForm ? (
        <SchemaForm fields={fields} text={text} onText={onText} errors={errors} />
      ) : (
        <JsonField
          label="Input, as JSON"
          placeholder="nothing: the plan’s own defaults"
          rows={7}
          text={text}
          onText={onText}
        />
      )}
      {fields !== undefined && (
        <button type="button" className="linklike text-working" onClick={() => setWantsJson(!wantsJson)}>
          {wantsJson ? 'Fill in fields instead' : 'Write it as JSON instead'}
        </button>
      )}
    </fieldset>
  );
}
