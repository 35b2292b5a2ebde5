/** The image type by its first bytes; undefined if it is unknown. */
export function imageType(bytes: Uint8Array): string | undefined {
  const begins = (at: number, ...expected: readonly number[]) =>
    expected.every((byte, index) => bytes[at + index] === byte);
  if (begins(0, 0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a)) return 'image/png';
  if (begins(0, 0xff, 0xd8, 0xff)) return 'image/jpeg';
  if (begins(0, ...codes('GIF87a')) || begins(0, ...codes('GIF89a'))) return 'image/gif';
  if (begins(0, ...codes('RIFF')) && begins(8, ...codes('WEBP'))) return 'image/webp';
  if (begins(4, ...codes('ftypavif')) || begins(4, ...codes('ftypavis'))) return 'image/avif';
  return isSvg(bytes) ? 'image/svg+xml' : undefined;
}

/** Image types that cannot carry code, so a browser may show them inline. */
export const safeImageTypes: ReadonlySet<string> = new Set([
  'image/png',
  'image/jpeg',
  'image/gif',
  'image/webp',
  'image/avif',
]);

const HEAD = 1024;

function isSvg(bytes: Uint8Array): boolean {
  const head = Array.from(bytes.subarray(0, HEAD), byte => String.fromCharCode(byte)).join('');
  return /^(?:\u00ef\u00bb\u00bf)?\s*(?:<\?xml[^>]*>\s*)?(?:<!--[\s\S]*?-->\s*|<!DOCTYPE[^>]*>\s*)*<svg[\s/>]/i.test(
    head,
  );
}

function codes(text: string): readonly number[] {
  return Array.from(text, character => character.charCodeAt(0));
}
