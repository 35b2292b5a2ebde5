import { err, failure, ok, type Result } from '@signalbox/model';
import type { FileError, Files } from '../../filesystem/filesystem.ts';

const MAX_TEXT_BYTES = 32 << 20;
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** A file as text, or why not: it does not exist, is too large, or is not UTF-8. */
export async function readText(files: Files, path: string): Promise<Result<string, FileError>> {
  const entry = await files.stat(path);
  if (!entry.ok) return entry;
  if (entry.value.size > MAX_TEXT_BYTES) return err(tooLarge(path, entry.value.size));
  const content = await files.read(path);
  if (!content.ok) return content;
  const text = textOf(content.value);
  return text === undefined ? err(notText(path)) : ok(text);
}

export function textOf(content: Uint8Array): string | undefined {
  try {
    return decoder.decode(content);
  } catch {
    return undefined;
  }
}

function notText(path: string): FileError {
  return failure('state/file-failed', {
    message: `${JSON.stringify(path)} is not UTF-8 text`,
    suggestion: 'Use a command to read or change it.',
  });
}

function tooLarge(path: string, bytes: number): FileError {
  return failure('state/file-failed', {
    message: `${JSON.stringify(path)} has ${bytes} bytes; at most ${MAX_TEXT_BYTES} are read`,
    suggestion: 'Use a command to read a part of it.',
  });
}
