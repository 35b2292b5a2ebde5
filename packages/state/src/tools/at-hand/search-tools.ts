import * as z from 'zod';
import type { FileEntry, Files } from '../../filesystem/filesystem.ts';
import { DEFAULT_OPAQUE } from '../../filesystem/host-filesystem.ts';
import { shownPath } from '../../filesystem/path-name.ts';
import { defineTool, fail, succeed, type ToolReply } from '../tool.ts';
import { globMatcher } from './glob-pattern.ts';
import { textOf } from './text-files.ts';

const path = z.string().max(4096).default('.').describe('Relative to the working directory.');
const MAX_ENTRIES = 1000;
const MAX_MATCHES = 500;
const MAX_LOOKED_AT = 100_000;
const MAX_FILE_BYTES = 2 << 20;
const MAX_LINE = 300;

const listOutput = z.strictObject({
  entries: z.array(z.strictObject({ name: z.string(), kind: z.string(), size: z.int() })),
  truncated: z.boolean(),
});

export const listFiles = defineTool({
  name: 'list_files',
  description: 'Lists a directory.',
  input: z.strictObject({ path }),
  output: listOutput,
  risk: 'low',
  effects: { kind: 'read-only' },
  async handler({ path }, { files }): Promise<ToolReply<z.infer<typeof listOutput>>> {
    const listed = await files.list(path);
    if (!listed.ok) return fail(listed.error.message);
    const entries = listed.value
      .slice(0, MAX_ENTRIES)
      .map(({ name, kind, size }) => ({ name: shownPath(name), kind, size }));
    return succeed({ entries, truncated: listed.value.length > MAX_ENTRIES });
  },
});

const globOutput = z.strictObject({ paths: z.array(z.string()), truncated: z.boolean() });

export const globFiles = defineTool({
  name: 'glob',
  description: 'Finds files by a pattern: * and ? within a name, ** over directories, {a,b} for either.',
  input: z.strictObject({ path, pattern: z.string().min(1).max(1000) }),
  output: globOutput,
  risk: 'low',
  effects: { kind: 'read-only' },
  async handler({ path, pattern }, { files, signal }): Promise<ToolReply<z.infer<typeof globOutput>>> {
    const matches = globMatcher(pattern);
    if (matches === undefined) return fail(`${JSON.stringify(pattern)} is not a valid pattern`);
    const paths: string[] = [];
    for await (const found of walk(files, path, signal)) {
      if (found === 'too much') return succeed({ paths, truncated: true });
      if (!matches(found.path)) continue;
      if (paths.length === MAX_MATCHES) return succeed({ paths, truncated: true });
      paths.push(shownPath(found.path));
    }
    return succeed({ paths, truncated: false });
  },
});

const grepOutput = z.strictObject({
  matches: z.array(z.strictObject({ path: z.string(), line: z.int(), text: z.string() })),
  truncated: z.boolean(),
});

export const grepFiles = defineTool({
  name: 'grep',
  description: 'Finds lines of text files that contain a text. Binary files and files over 2 MiB are skipped.',
  input: z.strictObject({
    path,
    text: z.string().min(1).max(1000),
    ignoreCase: z.boolean().default(false),
    files: z.string().max(1000).optional().describe('Only files whose path matches this pattern.'),
  }),
  output: grepOutput,
  risk: 'low',
  effects: { kind: 'read-only' },
  async handler(input, { files, signal, cut }): Promise<ToolReply<z.infer<typeof grepOutput>>> {
    const wanted = input.files === undefined ? () => true : globMatcher(input.files);
    if (wanted === undefined) return fail(`${JSON.stringify(input.files)} is not a valid pattern`);
    const fold = (text: string) => (input.ignoreCase ? text.toLowerCase() : text);
    const sought = fold(input.text);
    const matches: z.infer<typeof grepOutput>['matches'] = [];
    for await (const found of walk(files, input.path, signal)) {
      if (found === 'too much') return succeed({ matches, truncated: true });
      if (found.entry.kind !== 'file' || found.entry.size > MAX_FILE_BYTES || !wanted(found.path)) continue;
      const content = await files.read(found.from);
      const text = content.ok ? textOf(content.value) : undefined;
      if (text === undefined || !fold(text).includes(sought)) continue;
      for (const [index, line] of text.split('\n').entries()) {
        if (!fold(line).includes(sought)) continue;
        if (matches.length === MAX_MATCHES) return succeed({ matches, truncated: true });
        matches.push({ path: shownPath(found.path), line: index + 1, text: cut(line, MAX_LINE) });
      }
    }
    return succeed({ matches, truncated: false });
  },
});

interface Found {
  /** Relative to the start of the walk. */
  readonly path: string;
  /** Relative to the root. */
  readonly from: string;
  readonly entry: FileEntry;
}

/** Every file and link below a directory, sorted by name. Links are not followed, opaque directories not entered. */
async function* walk(files: Files, start: string, signal: AbortSignal): AsyncGenerator<Found | 'too much'> {
  let looked = 0;
  const pending: { path: string; from: string }[] = [{ path: '', from: start }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    signal.throwIfAborted();
    const listed = await files.list(next.from);
    if (!listed.ok) continue;
    const deeper: typeof pending = [];
    for (const entry of listed.value) {
      if (++looked > MAX_LOOKED_AT) {
        yield 'too much';
        return;
      }
      const path = next.path === '' ? entry.name : `${next.path}/${entry.name}`;
      const from = `${next.from}/${entry.name}`;
      if (entry.kind !== 'directory') yield { path, from, entry };
      else if (!DEFAULT_OPAQUE.includes(entry.name)) deeper.push({ path, from });
    }
    pending.push(...deeper.reverse());
  }
}
