import type { Json, JsonObject } from '@signalbox/model';
import { isObject } from '../story/json-object.ts';

/** A field of workflow files, from their schema. */
export interface SourceField {
  readonly name: string;
  readonly of: 'workflow' | 'step';
  readonly meaning: string;
  readonly isNeeded: boolean;
}

/** The fields of workflows and of their steps, in the order of the schema. */
export function sourceFields(schema: Json): readonly SourceField[] {
  if (!isObject(schema)) return [];
  const resolved = (part: Json | undefined): JsonObject => {
    if (!isObject(part)) return {};
    if (typeof part.$ref !== 'string') return part;
    const name = part.$ref.replace(/^#\/\$defs\//, '');
    return resolved(isObject(schema.$defs) ? schema.$defs[name] : undefined);
  };
  const fieldsOf = (part: Json | undefined, of: SourceField['of']): readonly SourceField[] => {
    const { properties, required, anyOf, oneOf } = resolved(part);
    const variants = Array.isArray(anyOf) ? anyOf : Array.isArray(oneOf) ? oneOf : [];
    const own = isObject(properties) ? Object.entries(properties) : [];
    const needed = Array.isArray(required) ? required : [];
    return [
      ...own.map(([name, field]) => {
        const { description } = isObject(field) ? field : {};
        const meaning = typeof description === 'string' ? description : '';
        return { name, of, meaning, isNeeded: needed.includes(name) };
      }),
      ...variants.flatMap(variant => fieldsOf(variant, of)),
    ];
  };
  const { properties } = resolved(schema);
  const steps = isObject(properties) ? properties.steps : undefined;
  const all = [...fieldsOf(schema, 'workflow'), ...fieldsOf(resolved(steps).items, 'step')];
  return all.filter(
    (field, index) => all.findIndex(({ name, of }) => name === field.name && of === field.of) === index,
  );
}

/** A text with a field put in at a place, and where its value is to be written. */
export function withField(text: string, at: number, name: string): { readonly text: string; readonly cursor: number } {
  const before = text.slice(0, at);
  const last = before.trimEnd().at(-1);
  const opens = last === undefined || last === '{' || last === '[' || last === ',';
  const start = `${before}${opens ? '' : ','}"${name}": `;
  const rest = text.slice(at);
  const next = rest.trimStart()[0];
  const closes = next === undefined || next === '}' || next === ']' || next === ',';
  return { text: `${start}""${closes ? '' : ','}${rest}`, cursor: start.length + 1 };
}
