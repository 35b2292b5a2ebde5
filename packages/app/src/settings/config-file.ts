import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { err, ok, type Result } from '@signalbox/model';
import type * as z from 'zod';

/** The configuration of a data directory. Each part is validated by the code that uses it. */
export const CONFIG_FILE = 'config.json';

const MAX_BYTES = 1_048_576;

/** The parts of the configuration by name, undefined if there is no file; or why it cannot be used. */
export function readConfigFile(dataDirectory: string): Result<Readonly<Record<string, unknown>> | undefined, string> {
  const file = path.join(dataDirectory, CONFIG_FILE);
  let text: string;
  try {
    if (statSync(file).size > MAX_BYTES) return err(`it has more than ${MAX_BYTES} bytes`);
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    return code === 'ENOENT' ? ok(undefined) : err(`it cannot be read (${code})`);
  }
  try {
    const given: unknown = JSON.parse(text);
    const isObject = typeof given === 'object' && given !== null && !Array.isArray(given);
    return isObject ? ok(given as Record<string, unknown>) : err('it is not a JSON object');
  } catch {
    return err('it is not JSON');
  }
}

/** One part of the configuration, or why it cannot be used. */
export function readConfigPart<Schema extends z.ZodType>(
  dataDirectory: string,
  name: string,
  schema: Schema,
): Result<z.infer<Schema> | undefined, string> {
  const parts = readConfigFile(dataDirectory);
  if (!parts.ok) return parts;
  if (parts.value === undefined || !Object.hasOwn(parts.value, name)) return ok(undefined);
  const parsed = schema.safeParse(parts.value[name]);
  return parsed.success ? ok(parsed.data) : err(`${name}${placeOf(parsed.error.issues[0])}`);
}

/** Names the place and the problem, but no value: it may be a misplaced secret. */
function placeOf(issue: z.core.$ZodIssue | undefined): string {
  if (issue === undefined) return ' does not fit';
  const place = issue.path.map(part => `.${String(part)}`).join('');
  return issue.code === 'unrecognized_keys' ? `${place} has an unknown field` : `${place}: ${issue.message}`;
}
