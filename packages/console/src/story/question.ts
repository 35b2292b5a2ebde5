import type { Json, JsonObject, WireDecision } from '@signalbox/model';

/** What a decision asks for, and what there is to see before it is answered. */
export interface Question {
  /** Approve or deny; or one of these; or a value that fits. */
  readonly wants:
    | { readonly kind: 'approval' }
    | { readonly kind: 'option'; readonly options: readonly { readonly id: string; readonly label: string }[] }
    | { readonly kind: 'value'; readonly schema: Json };
  readonly words: string | undefined;
  readonly shown: readonly (readonly [name: string, value: string])[];
}

/** A tool call shows its arguments; a question to a person, what its author put beside it. */
export function questionOf({ tool, context, decision: { kind, proposal } }: WireDecision): Question {
  const isTool = kind === 'file_edit' || kind === 'command_exec' || kind === 'external_api';
  const fields = isObject(proposal) ? proposal : { proposal };
  const options = optionsOf(fields.options);
  const hidden = ['prompt', 'options', 'schema', ...(fields.context === context ? ['context'] : [])];
  const shown = isTool
    ? tool.args
    : Object.fromEntries(Object.entries(fields).filter(([name]) => !hidden.includes(name)));
  return {
    wants:
      kind === 'choice' && options.length > 0
        ? { kind: 'option', options }
        : kind === 'human' && fields.schema !== undefined
          ? { kind: 'value', schema: fields.schema }
          : { kind: 'approval' },
    words: context,
    shown: Object.entries(shown).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : JSON.stringify(value, null, 1),
    ]),
  };
}

function optionsOf(given: Json | undefined): readonly { readonly id: string; readonly label: string }[] {
  if (!Array.isArray(given)) return [];
  return given.flatMap((option: Json) => {
    if (!isObject(option) || typeof option.id !== 'string') return [];
    return [{ id: option.id, label: typeof option.label === 'string' ? option.label : option.id }];
  });
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
