import { type ArtifactRecord, safeImageTypes } from '@signalbox/app/host';
import { create as contentDisposition } from 'content-disposition';

/**
 * How a browser should treat content made by agents. Images that cannot carry code, text and JSON may be displayed; everything else, such
 * as SVG and HTML, is only saved.
 */
export function contentHeaders({ digest, mimeType, name }: Pick<ArtifactRecord, 'digest' | 'mimeType' | 'name'>) {
  const type = shownAs(mimeType);
  const file = fileName(name, mimeType);
  return {
    'Content-Type': type ?? 'application/octet-stream',
    'Content-Disposition': contentDisposition(file, {
      type: type === undefined ? 'attachment' : 'inline',
      fallback: file.replace(/[^\x20-\x7e]|%/g, '_'),
    }),
    'Accept-Ranges': 'bytes',
    'Cache-Control': 'private, max-age=31536000, immutable',
    ETag: `"${digest}"`,
  };
}

/** Undefined if it must not be displayed. */
function shownAs(mimeType: string): string | undefined {
  if (safeImageTypes.has(mimeType)) return mimeType;
  if (mimeType === 'application/json') return 'application/json; charset=utf-8';
  return textTypes.has(mimeType) ? 'text/plain; charset=utf-8' : undefined;
}

const textTypes: ReadonlySet<string> = new Set(['text/plain', 'text/markdown', 'text/x-diff', 'text/x-patch']);

const endings: Readonly<Record<string, string>> = {
  'text/markdown': '.md',
  'application/json': '.json',
  'image/png': '.png',
  'image/jpeg': '.jpg',
  'image/gif': '.gif',
  'image/webp': '.webp',
  'image/avif': '.avif',
  'image/svg+xml': '.svg',
};

/** A safe file name: no path, no unprintable characters, and the extension of its type. */
function fileName(name: string, mimeType: string): string {
  const kept = name
    .replace(/[\p{Cc}\p{Cf}/\\:*?"<>|]/gu, '_')
    .replace(/^\.+/, '_')
    .slice(0, 100)
    .toWellFormed();
  const ending = endings[mimeType] ?? '';
  return kept.toLowerCase().endsWith(ending) ? kept : `${kept}${ending}`;
}
