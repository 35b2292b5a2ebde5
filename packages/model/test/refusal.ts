import type * as z from 'zod';

/** Why a schema refuses a value, one `path: code` per problem; empty where it accepts. */
export function refusal(schema: z.ZodType, value: unknown): readonly string[] {
  const parsed = schema.safeParse(value);
  return parsed.success ? [] : parsed.error.issues.map(issue => `${issue.path.join('.')}: ${issue.code}`);
}

/** The fields of a sample whose absence the schema refuses. */
export function requiredFields(schema: z.ZodType, sample: object): readonly string[] {
  return Object.keys(sample).filter(field => refusal(schema, without(sample, field)).length > 0);
}

/** The paths of objects in a sample that accept a field nobody declared; `''` is the sample itself. */
export function openObjects(schema: z.ZodType, sample: object): readonly string[] {
  return objectPaths(sample).filter(path => refusal(schema, withSurplus(sample, path)).length === 0);
}

export function without<T extends object>(value: T, field: string): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).filter(([key]) => key !== field));
}

function objectPaths(value: unknown, path = ''): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  const below = Object.entries(value).flatMap(([key, part]) => objectPaths(part, path === '' ? key : `${path}.${key}`));
  return Array.isArray(value) ? below : [path, ...below];
}

function withSurplus(value: unknown, path: string): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (path === '') return { ...value, surplus: true };
  const dot = path.indexOf('.');
  const [head, rest] = dot < 0 ? [path, ''] : [path.slice(0, dot), path.slice(dot + 1)];
  const changed = Object.entries(value).map(([key, part]) => [key, key === head ? withSurplus(part, rest) : part]);
  return Array.isArray(value) ? changed.map(([, part]) => part) : Object.fromEntries(changed);
}

/** The sample once per text in it, with that text replaced. */
export function withText(value: unknown, replacement: string): readonly unknown[] {
  if (typeof value === 'string') return [replacement];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, part]) =>
    withText(part, replacement).map(changed =>
      Array.isArray(value) ? value.with(Number(key), changed) : { ...value, [key]: changed },
    ),
  );
}
