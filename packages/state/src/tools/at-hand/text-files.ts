import { err, failure, ok, type Result } from '@signalbox/model';
import type { FileError, Files } from '../../filesystem/filesystem.ts';

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** A file as text, or why it cannot be: it is not there, or its bytes are not UTF-8. */
export async function readText(files: Files, path: string): Promise<Result<string, FileError>> {
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
    suggestion: 'Use a command to look at or change it.',
  });
}
