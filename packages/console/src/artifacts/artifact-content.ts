import type { Json, JsonObject, WireArtifact } from '@signalbox/model';
import { isObject } from '../story/json-object.ts';

/** How an artifact's content is displayed. */
export type Shown =
  | { readonly kind: 'markdown' | 'text'; readonly text: string }
  | { readonly kind: 'table'; readonly columns: readonly string[]; readonly rows: readonly JsonObject[] }
  | { readonly kind: 'progress'; readonly current: number; readonly total: number; readonly label: string }
  | { readonly kind: 'link'; readonly url: string; readonly label: string }
  | { readonly kind: 'image' | 'bytes' };

const pictures: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif']);

/** Content that does not fit its kind is shown as text, and non-text as bytes. */
export function shownOf({ kind, mimeType }: Pick<WireArtifact, 'kind' | 'mimeType'>, content: Uint8Array): Shown {
  if (pictures.has(mimeType)) return { kind: 'image' };
  const text = textOf(content);
  if (text === undefined) return { kind: 'bytes' };
  if (kind === 'markdown' || mimeType === 'text/markdown') return { kind: 'markdown', text };
  const value = parsed(text);
  if (!isObject(value)) return { kind: 'text', text };
  const { columns, rows, current, total, url, label } = value;
  const words = typeof label === 'string' ? label : '';
  if (kind === 'table' && Array.isArray(columns) && Array.isArray(rows)) {
    return { kind: 'table', columns: columns.map(String), rows: rows.filter(isObject) };
  }
  if (kind === 'progress' && typeof current === 'number' && typeof total === 'number') {
    return { kind: 'progress', current, total, label: words };
  }
  // Only addresses that a browser opens as a page: a script address would run in this page.
  if (kind === 'link' && typeof url === 'string' && /^(https?:|mailto:)/i.test(url)) {
    return { kind: 'link', url, label: words === '' ? url : words };
  }
  return { kind: 'text', text: JSON.stringify(value, null, 2) };
}

function textOf(content: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(content);
    return text.includes('\0') ? undefined : text;
  } catch {
    return undefined;
  }
}

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}
