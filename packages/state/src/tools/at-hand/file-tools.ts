import * as z from 'zod';
import { defineTool, fail, succeed, type ToolReply } from '../tool.ts';
import { readText } from './text-files.ts';

const path = z.string().min(1).max(4096).describe('Relative to the working directory.');
const MAX_READ_LINES = 2000;
const MAX_LINE = 2000;

export const readFile = defineTool({
  name: 'read_file',
  description: 'Reads lines of a text file.',
  input: z.strictObject({
    path,
    offset: z.int().nonnegative().default(0).describe('The first line, counted from 0.'),
    limit: z.int().positive().max(MAX_READ_LINES).default(MAX_READ_LINES),
  }),
  output: z.strictObject({ text: z.string(), lines: z.int(), truncated: z.boolean() }),
  risk: 'low',
  effects: { kind: 'read-only' },
  async handler(
    { path, offset, limit },
    { files, cut: begin },
  ): Promise<ToolReply<{ text: string; lines: number; truncated: boolean }>> {
    const text = await readText(files, path);
    if (!text.ok) return fail(text.error.message);
    const lines = text.value.split('\n');
    const shown = lines.slice(offset, offset + limit);
    const cut = shown.map(line => (line.length > MAX_LINE ? `${begin(line, MAX_LINE)}…` : line));
    const truncated = offset + limit < lines.length || cut.some((line, index) => line !== shown[index]);
    return succeed({ text: cut.join('\n'), lines: lines.length, truncated });
  },
});

export const writeFile = defineTool({
  name: 'write_file',
  description: 'Creates a text file or replaces its content.',
  input: z.strictObject({ path, content: z.string() }),
  output: z.strictObject({ bytes: z.int() }),
  risk: 'medium',
  effects: { kind: 'files', paths: ({ path }) => [path] },
  async handler({ path, content }, { files }): Promise<ToolReply<{ bytes: number }>> {
    const written = await files.write(path, content);
    return written.ok ? succeed({ bytes: Buffer.byteLength(content) }) : fail(written.error.message);
  },
});

export const editFile = defineTool({
  name: 'edit_file',
  description: 'Replaces a text that occurs exactly once in a file.',
  input: z.strictObject({ path, find: z.string().min(1), replaceWith: z.string() }),
  output: z.strictObject({ line: z.int() }),
  risk: 'medium',
  effects: { kind: 'files', paths: ({ path }) => [path] },
  async handler({ path, find, replaceWith }, { files }): Promise<ToolReply<{ line: number }>> {
    const text = await readText(files, path);
    if (!text.ok) return fail(text.error.message);
    const at = text.value.indexOf(find);
    const found = occurrences(text.value, find);
    if (found !== 1) return fail(`the text occurs ${found} times in ${path}; it must occur exactly once`, { found });
    const next = text.value.slice(0, at) + replaceWith + text.value.slice(at + find.length);
    const written = await files.write(path, next);
    return written.ok ? succeed({ line: text.value.slice(0, at).split('\n').length }) : fail(written.error.message);
  },
});

/** Counts overlapping matches too: any of them could be the intended one. */
function occurrences(text: string, find: string): number {
  let count = 0;
  for (let at = text.indexOf(find); at >= 0; at = text.indexOf(find, at + 1)) count++;
  return count;
}
