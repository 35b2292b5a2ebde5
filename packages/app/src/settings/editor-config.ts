import { DEFAULT_EDITOR_URL } from '@signalbox/model';
import * as z from 'zod';
import { readConfigPart } from './config-file.ts';

/** A browser follows the address: it must not be one that runs code there. */
const url = z
  .string()
  .max(500)
  .regex(/^(?!javascript:|data:|vbscript:|blob:)[a-z][a-z0-9+.-]*:/i, 'must be the address of an editor')
  .refine(given => given.includes('{file}'), 'must contain {file}');
export const editorPart = z.strictObject({ url: z.union([url, z.literal('')]).optional() });

/**
 * The address that opens a place of a plan's file: `editor.url` of the data directory's configuration, with `{file}`, `{line}` and
 * `{column}`. An empty one means that nothing is linked; an invalid one is the same.
 */
export function readEditorUrl(dataDirectory: string): string {
  const read = readConfigPart(dataDirectory, 'editor', editorPart);
  return read.ok ? (read.value?.url ?? DEFAULT_EDITOR_URL) : '';
}

/** Why the configured address is not used. */
export function editorFault(dataDirectory: string): string | undefined {
  const read = readConfigPart(dataDirectory, 'editor', editorPart);
  return read.ok ? undefined : read.error;
}
