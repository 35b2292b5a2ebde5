import { Bug } from './bug.ts';

/** Appended to a text cut to its budget. Its bytes count towards the budget. */
export const TRUNCATION_MARKER = '\n\n[TRUNCATED]';

const encoder = new TextEncoder();

export function utf8Bytes(text: string): Uint8Array {
  return encoder.encode(text);
}

/** Length in UTF-8 bytes, which is what every text budget counts. */
export function utf8Length(text: string): number {
  let bytes = 0;
  for (let i = 0; i < text.length; i++) {
    const size = utf8Size(text, i);
    bytes += size;
    if (size === 4) i++;
  }
  return bytes;
}

/**
 * The text itself if it fits; otherwise the longest prefix of whole characters that leaves room for the marker, plus the
 * marker.
 */
export function truncateUtf8(text: string, maxBytes: number): string {
  const room = maxBytes - TRUNCATION_MARKER.length;
  if (room < 0) throw new Bug(`a budget of ${maxBytes} bytes cannot hold the truncation marker`);
  if (utf8Length(text) <= maxBytes) return text;
  let bytes = 0;
  let end = 0;
  while (end < text.length) {
    const size = utf8Size(text, end);
    if (bytes + size > room) break;
    bytes += size;
    end += size === 4 ? 2 : 1;
  }
  return text.slice(0, end) + TRUNCATION_MARKER;
}

/** Bytes of the character at a code unit. A lone surrogate is encoded as U+FFFD, three bytes. */
function utf8Size(text: string, index: number): 1 | 2 | 3 | 4 {
  const code = text.codePointAt(index) ?? 0;
  if (code < 0x80) return 1;
  if (code < 0x800) return 2;
  return code < 0x1_0000 ? 3 : 4;
}
