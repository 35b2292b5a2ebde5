import { type BigIntStats, constants } from 'node:fs';
import { lstat, open } from 'node:fs/promises';
import { type Digest, err, type Hasher, ok, type Result } from '@signalbox/model';
import { limits } from '../compile/limits.ts';
import { errorCode } from './directory-walk.ts';

/** A file's content as JSON, and the digest of its bytes. */
export interface WorkflowFile {
  readonly source: unknown;
  readonly digest: Digest;
  /** Changes whenever the file does; tells a cache whether to read again. */
  readonly stamp: string;
}

export interface FileProblem {
  readonly code: 'unreadable_file' | 'too_large_file' | 'not_text' | 'not_json_file';
  readonly message: string;
}

const PLAIN = 'Make it a plain file that you may read.';

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Reads one workflow file. A link is refused, even one created after the walk; no more is read than a workflow may contain.
 * `known` is an earlier result: it is returned again while its stamp matches.
 */
export async function readWorkflowFile(
  file: string,
  hasher: Hasher,
  known?: WorkflowFile,
): Promise<Result<WorkflowFile, FileProblem>> {
  let handle: Awaited<ReturnType<typeof open>>;
  try {
    handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (cause) {
    return err({ code: 'unreadable_file', message: `The file cannot be opened (${errorCode(cause)}). ${PLAIN}` });
  }
  try {
    const stat = await handle.stat({ bigint: true });
    if (!stat.isFile()) return err({ code: 'unreadable_file', message: `It is not a plain file. ${PLAIN}` });
    if (stat.size > BigInt(limits.fileBytes)) return err(tooLarge(`${stat.size} bytes`));
    const stamp = stampText(stat);
    if (known?.stamp === stamp) return ok(known);
    const bytes = Buffer.alloc(limits.fileBytes + 1);
    let length = 0;
    for (;;) {
      const { bytesRead } = await handle.read(bytes, length, bytes.length - length, length);
      if (bytesRead === 0) break;
      length += bytesRead;
      if (length > limits.fileBytes) return err(tooLarge('more'));
    }
    return parse(bytes.subarray(0, length), hasher, stamp);
  } catch (cause) {
    return err({ code: 'unreadable_file', message: `The file cannot be read (${errorCode(cause)}). ${PLAIN}` });
  } finally {
    await handle.close();
  }
}

/** The stamp of a file now; undefined if it cannot be looked at. */
export async function stampOf(file: string): Promise<string | undefined> {
  try {
    return stampText(await lstat(file, { bigint: true }));
  } catch {
    return undefined;
  }
}

function stampText({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return `${dev}:${ino}:${size}:${mtimeNs}:${ctimeNs}`;
}

function parse(bytes: Uint8Array, hasher: Hasher, stamp: string): Result<WorkflowFile, FileProblem> {
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    return err({ code: 'not_text', message: 'The file is not UTF-8 text. Save it as UTF-8.' });
  }
  try {
    return ok({ source: JSON.parse(text), digest: hasher(bytes), stamp });
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : 'it cannot be parsed';
    return err({ code: 'not_json_file', message: `The file is not JSON: ${reason.slice(0, 200)}` });
  }
}

function tooLarge(size: string): FileProblem {
  return {
    code: 'too_large_file',
    message: `The file takes ${size}; a workflow takes ${limits.fileBytes} bytes at most. Move steps into routines and long texts into files that they name.`,
  };
}
