import { isJsonObject, type Json, type JsonObject } from '@signalbox/model';
import type { Shape } from './shape.ts';

/** Converts a JSON Schema from an older file to a shape, and lists keywords without an equivalent. */
export function shapeOfJsonSchema(schema: JsonObject): { readonly shape: Shape; readonly ignored: readonly string[] } {
  const ignored = new Set<string>();
  return { shape: convert(schema, ignored), ignored: [...ignored].sort() };
}

const UNDERSTOOD = new Set([
  ...['$schema', 'title', 'description', 'default', 'examples', 'type', 'enum', 'const', 'properties', 'required'],
  ...['additionalProperties', 'items', 'minItems', 'maxItems', 'minLength', 'maxLength', 'minimum', 'maximum'],
  ...['anyOf', 'oneOf'],
]);

function convert(schema: Json | undefined, ignored: Set<string>): Shape {
  if (!isJsonObject(schema)) return { type: 'any' };
  for (const keyword of Object.keys(schema)) if (!UNDERSTOOD.has(keyword)) ignored.add(keyword);
  if (Array.isArray(schema.enum)) return { type: 'one_of', values: schema.enum };
  if (schema.const !== undefined) return { type: 'one_of', values: [schema.const] };
  const branches = schema.anyOf ?? schema.oneOf;
  if (isList(branches)) return { type: 'any_of', of: branches.map(branch => convert(branch, ignored)) };
  if (isList(schema.type)) {
    return { type: 'any_of', of: schema.type.map(type => convert({ ...schema, type }, ignored)) };
  }
  switch (schema.type) {
    case 'string':
      return { type: 'text', min: count(schema.minLength), max: count(schema.maxLength) };
    case 'number':
    case 'integer':
      return { type: schema.type, min: count(schema.minimum), max: count(schema.maximum) };
    case 'boolean':
    case 'null':
      return { type: schema.type };
    case 'array':
      return {
        type: 'list',
        of: convert(schema.items, ignored),
        min: count(schema.minItems),
        max: count(schema.maxItems),
      };
    case 'object':
      return objectShape(schema, ignored);
    default:
      return isJsonObject(schema.properties) ? objectShape(schema, ignored) : { type: 'any' };
  }
}

function objectShape(schema: JsonObject, ignored: Set<string>): Shape {
  const properties = isJsonObject(schema.properties) ? schema.properties : {};
  const required = new Set(isList(schema.required) ? schema.required : []);
  const names = [...new Set([...Object.keys(properties), ...[...required].filter(name => typeof name === 'string')])];
  return {
    type: 'object',
    open: schema.additionalProperties !== false,
    fields: names.sort().map(name => ({
      name,
      required: required.has(name),
      shape: convert(Object.hasOwn(properties, name) ? properties[name] : undefined, ignored),
    })),
  };
}

function count(value: Json | undefined): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}
