import type { Json, JsonObject } from '@signalbox/model';
import { isObject } from './json-object.ts';

/** A form field of a JSON Schema property. */
export interface Field {
  readonly name: string;
  readonly kind: 'text' | 'number' | 'boolean' | 'choice' | 'json';
  readonly options: readonly string[];
  readonly isRequired: boolean;
  readonly about: string | undefined;
  readonly given: Json | undefined;
}

/** The fields of an object with named properties; undefined if a form cannot represent it. */
export function fieldsOf(schema: Json | undefined): readonly Field[] | undefined {
  if (!isObject(schema) || schema.type !== 'object' || !isObject(schema.properties)) return undefined;
  const required = Array.isArray(schema.required) ? schema.required : [];
  const fields = Object.entries(schema.properties).map(([name, property]) =>
    fieldOf(name, isObject(property) ? property : {}, required.includes(name)),
  );
  return fields.length === 0 ? undefined : fields;
}

function fieldOf(name: string, property: JsonObject, isRequired: boolean): Field {
  const choices = Array.isArray(property.enum) ? property.enum.filter(one => typeof one === 'string') : [];
  return {
    name,
    kind: choices.length > 0 ? 'choice' : kindOf(property.type),
    options: choices,
    isRequired: isRequired && property.default === undefined,
    about: typeof property.description === 'string' ? property.description : undefined,
    given: property.default,
  };
}

function kindOf(type: Json | undefined): Field['kind'] {
  switch (type) {
    case 'string':
      return 'text';
    case 'number':
    case 'integer':
      return 'number';
    case 'boolean':
      return 'boolean';
    default:
      return 'json';
  }
}
