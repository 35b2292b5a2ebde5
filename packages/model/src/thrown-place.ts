import * as z from 'zod';
import { text } from './json.ts';

const position = { file: text.min(1), line: z.int().positive(), column: z.int().positive() };

/** Where the author's code threw, and in which circumstances. Lines and columns count from 1. */
export const thrownPlace = z.strictObject({
  ...position,
  /** Up to five lines of the file around the place; the first has the number `from`. */
  code: z.strictObject({ from: z.int().positive(), text }).optional(),
  /** The calls that led there, innermost first: those in the plan's files and in packages. */
  stack: z.array(text).readonly().optional(),
  /** The element whose code it was. */
  element: z.strictObject({ kind: text, id: text.optional(), at: z.strictObject(position).optional() }).optional(),
  /** The state keys that the code had read. */
  reads: z.array(text).readonly().optional(),
});
export type ThrownPlace = z.infer<typeof thrownPlace>;

/** The lines around a place, as a compiler prints them: numbered, with a mark at the place. */
export function codeFrame({ line, column, code }: ThrownPlace): readonly string[] {
  if (code === undefined) return [];
  const lines = code.text.split('\n');
  const width = String(code.from + lines.length - 1).length;
  return lines.flatMap((content, index) => {
    const number = code.from + index;
    const isPlace = number === line;
    const row = `${isPlace ? '>' : ' '} ${String(number).padStart(width)} | ${content}`.trimEnd();
    if (!isPlace || column > content.length + 1) return [row];
    const indent = content.slice(0, column - 1).replace(/[^\t]/g, ' ');
    return [row, `  ${' '.repeat(width)} | ${indent}^`];
  });
}

/** `plan.tsx:12:5`: the file without its folder. */
export function shortPlace({ file, line, column }: Pick<ThrownPlace, 'file' | 'line' | 'column'>): string {
  return `${file.split(/[\\/]/).at(-1)}:${line}:${column}`;
}

/** Opens a file in an editor. `{file}`, `{line}` and `{column}` stand for the place. */
export const DEFAULT_EDITOR_URL = 'vscode://file/{file}:{line}:{column}';

/** The address that opens a place in an editor. */
export function editorUrl(
  template: string,
  { file, line, column }: Pick<ThrownPlace, 'file' | 'line' | 'column'>,
): string {
  const path = file.replaceAll('\\', '/').split('/').map(encodeURIComponent).join('/').replaceAll('%3A', ':');
  return template
    .replace(/\/?\{file\}/, found => (found.startsWith('/') ? `/${path.replace(/^\//, '')}` : path))
    .replace('{line}', String(line))
    .replace('{column}', String(column));
}
