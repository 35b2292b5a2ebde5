import { isJsonObject, type Json, type JsonObject } from '@signalbox/model';

/** How deep a schema that contains itself is followed. */
const MAX_DEPTH = 8;

/** The smallest value that a JSON Schema asks for. Patterns and sums of conditions are beyond it: whoever uses it checks. */
export function sampleOf(schema: JsonObject): Json {
  return sample(schema, schema, 0);
}

function sample(schema: Json | undefined, root: JsonObject, depth: number): Json {
  if (!isJsonObject(schema) || depth > MAX_DEPTH) return null;
  const given = ['const', 'default', 'example'].find(name => schema[name] !== undefined);
  if (given !== undefined) return schema[given] ?? null;
  const listed = [schema.enum, schema.examples].find(list => Array.isArray(list) && list.length > 0);
  if (listed !== undefined) return (listed as readonly Json[])[0] ?? null;
  if (typeof schema.$ref === 'string') return sample(pointed(root, schema.$ref), root, depth + 1);
  const [first] = [schema.anyOf, schema.oneOf].flatMap(list => (Array.isArray(list) ? list : []));
  if (first !== undefined) return sample(first, root, depth + 1);
  if (Array.isArray(schema.allOf)) return mergedSample(schema.allOf, root, depth + 1);
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  switch (type) {
    case 'object':
      return objectSample(schema, root, depth);
    case 'array':
      return Array.from({ length: numberIn(schema, 'minItems') ?? 0 }, () => sample(schema.items, root, depth + 1));
    case 'string':
      return textSample(schema);
    case 'integer':
    case 'number':
      return numberSample(schema);
    case 'boolean':
      return true;
    default:
      return null;
  }
}

function objectSample(schema: JsonObject, root: JsonObject, depth: number): Json {
  const properties = isJsonObject(schema.properties) ? schema.properties : {};
  const required = Array.isArray(schema.required) ? schema.required : [];
  return Object.fromEntries(
    required.filter(name => typeof name === 'string').map(name => [name, sample(properties[name], root, depth + 1)]),
  );
}

function mergedSample(parts: readonly Json[], root: JsonObject, depth: number): Json {
  const samples = parts.map(part => sample(part, root, depth));
  return samples.every(isJsonObject) ? Object.assign({}, ...samples) : (samples[0] ?? null);
}

const FORMATS: Readonly<Record<string, string>> = {
  date: '2026-01-01',
  'date-time': '2026-01-01T00:00:00Z',
  email: 'ada@example.com',
  uri: 'https://example.com/',
  uuid: '00000000-0000-4000-8000-000000000000',
};

function textSample(schema: JsonObject): string {
  const { format } = schema;
  const known = typeof format === 'string' ? FORMATS[format] : undefined;
  if (known !== undefined) return known;
  const text = 'text';
  return text.padEnd(numberIn(schema, 'minLength') ?? 0, '.').slice(0, numberIn(schema, 'maxLength'));
}

function numberSample(schema: JsonObject): number {
  const above = numberIn(schema, 'exclusiveMinimum');
  // What zod calls an integer is bounded by what JavaScript counts exactly.
  const least = Math.max(
    above === undefined ? Number.NEGATIVE_INFINITY : above + 1,
    numberIn(schema, 'minimum') ?? Number.NEGATIVE_INFINITY,
  );
  const most = numberIn(schema, 'maximum') ?? Number.POSITIVE_INFINITY;
  return Math.min(Math.max(0, least), most);
}

function numberIn(schema: JsonObject, name: string): number | undefined {
  const value = schema[name];
  return typeof value === 'number' ? value : undefined;
}

/** A part of the schema itself, by `#/…`. */
function pointed(root: JsonObject, ref: string): Json | undefined {
  return ref
    .split('/')
    .slice(1)
    .reduce<Json | undefined>((part, name) => (isJsonObject(part) ? part[name] : undefined), root);
}
