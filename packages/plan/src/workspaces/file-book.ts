import { asJson, canonicalJson, defined, type Json, thrownMessage, utf8Bytes } from '@signalbox/model';
import type { NodeKey } from '@signalbox/runs';
import { sha256 } from '../artifacts/sha256.ts';
import type { Ledger } from '../frames/run-commit.ts';
import { type ErrorContext, PlanError, RenderPhaseWriteError } from '../plan-error.ts';
import { createReadable, FILE, isRendering } from '../render/tracked.ts';
import type { ActionQueue } from '../state/action-queue.ts';
import { type FileAccess, type FileMark, type FileReader, MAX_FILE_BYTES, type PlanFiles } from './plan-files.ts';

/** The prefix of action keys that write a file. */
export const FILE_WRITE = 'f:';

/** The kind of a render's file access. */
type Look = 'read' | 'list' | 'stat';

/**
 * `ctx.fs`.
 *
 * 1. Files do not change within a frame: what a render read is checked again only when the next frame begins, and rendered again if it
 *    changed.
 * 2. Reads are recorded with their frame: `{digest, bytes}` of a file, `{value}` of a directory or of its kind, `{absent}` if nothing is
 *    there. Contents are blobs before the frame is committed.
 * 3. A handler's write happens in the flush, before its commit: after a crash between the two it happens again.
 */
export interface FileBook {
  readonly access: FileAccess;
  /** For work, which writes at once. */
  taskAccess(node: string): FileAccess;
  /** Checks everything that renders read; true if anything changed. */
  refresh(): boolean;
  /** The record of a read key. */
  recordOf(key: string): Json | undefined;
  /** Watches the keys that renders currently read. */
  reading(keys: ReadonlySet<string>): void;
  /** Performs the writes of a transaction. Returns why one failed. */
  write(
    path: string,
    content: Json,
    origin: { readonly node: string; readonly handler?: string },
  ): PlanError | undefined;
  /** Puts the writes of tasks into the ledger. */
  settle(): void;
  readonly hasNews: boolean;
  /** Whether a handler read a file since the last call: its writes cannot be verified. */
  takeUnrecorded(): boolean;
  /** Contents that must be durable before the next commit. */
  takeBlobs(): readonly Uint8Array[];
  /** Whether the plan's code has asked for a write: only its commits so far may come before that. */
  readonly isWriting: boolean;
  bytes(path: string): Uint8Array;
  close(): void;
}

interface Answer {
  readonly record: Json;
  readonly value: unknown;
  readonly mark: FileMark;
}

interface Written {
  readonly path: string;
  readonly content: Uint8Array;
  readonly node: string;
  readonly handler?: string;
}

export interface FileBookParts {
  readonly files: PlanFiles | undefined;
  readonly queue: ActionQueue;
  readonly ledger: Pick<Ledger, 'event'>;
  frame(): number;
  moment(): ErrorContext;
  /** A file that was read may have changed. */
  onChange(): void;
  /** A task wrote a file. */
  onWritten(): void;
  /** Called before a task writes a file: every commit so far is durable. */
  catchUp(): void;
}

export function createFileBook({
  files,
  queue,
  ledger,
  frame,
  moment,
  onChange,
  onWritten,
  catchUp,
}: FileBookParts): FileBook {
  const versions = createReadable(FILE, new Map());
  const answers = new Map<string, Answer>();
  let count = 0;
  let isUnrecorded = false;
  let isWriting = false;
  let blobs: Uint8Array[] = [];
  let written: Written[] = [];
  let watched = '';
  let stopWatching: (() => void) | undefined;

  const refuse = (path: string, cause: unknown): PlanError =>
    new PlanError('plan/file-refused', `${JSON.stringify(path)}: ${thrownMessage(cause)}`, {
      context: moment(),
      cause,
    });
  const port = (path: string): PlanFiles => {
    if (files === undefined) throw refuse(path, new Error('there are no files here'));
    return files;
  };

  function ask(look: Look, path: string): Answer {
    const from = port(path);
    try {
      // The mark is older than the read: a change in between is noticed later.
      const mark = from.mark(path);
      if (look !== 'read') {
        const value = look === 'list' ? from.list(path) : from.stat(path);
        const record = value === undefined ? { absent: true } : { value: asJson(value) };
        return { mark, value, record };
      }
      const bytes = from.read(path);
      if (bytes === undefined) return { mark, value: undefined, record: { absent: true } };
      const value = textOf(bytes);
      blobs.push(bytes);
      return { mark, value, record: { digest: sha256(bytes), bytes: bytes.length } };
    } catch (cause) {
      throw cause instanceof PlanError ? cause : refuse(path, cause);
    }
  }

  /** In a render, the recorded answer; elsewhere, the current one. */
  function look(kind: Look, path: string): unknown {
    if (!isRendering()) {
      // Effects are not called again to verify a run; handlers are.
      if (queue.origin !== undefined && queue.origin.handler !== 'effect') isUnrecorded = true;
      const kept = blobs.length;
      const { value } = ask(kind, path);
      blobs.length = kept;
      return value;
    }
    const key = `${kind}:${checkedPath(path)}`;
    versions.read(key);
    let known = answers.get(key);
    if (known === undefined) {
      known = ask(kind, path);
      answers.set(key, known);
    }
    return known.value;
  }

  const reader: FileReader = {
    read: path => look('read', path) as string | undefined,
    list: path => look('list', path) as ReturnType<FileReader['list']>,
    exists: path => look('stat', path) !== undefined,
    stat: path => look('stat', path) as ReturnType<FileReader['stat']>,
  };

  const checkedPath = (path: string): string => {
    if (typeof path !== 'string' || path.length === 0 || path.length > MAX_PATH || !path.isWellFormed())
      throw refuse(String(path).slice(0, 100), new Error(`a path is a text of 1 to ${MAX_PATH} characters`));
    return path;
  };

  const note = ({ path, content, node, handler }: Written) =>
    ledger.event('file.written', {
      path,
      digest: sha256(content),
      bytes: content.length,
      frame: frame(),
      ...(node === '' ? {} : { node: node as NodeKey }),
      ...defined({ handler }),
    });

  return {
    access: {
      ...reader,
      write(path, content) {
        if (isRendering()) {
          const what = 'ctx.fs.write cannot be called during a render; use an Effect, a handler or a Task';
          throw new RenderPhaseWriteError('plan/render-write', what, { context: moment() });
        }
        port(checkedPath(path));
        isWriting = true;
        const text = typeof content === 'string' ? content : Buffer.from(content).toString('base64');
        queue.push({
          kind: 'set',
          key: FILE_WRITE + path,
          value: { [typeof content === 'string' ? 'text' : 'base64']: text },
        });
      },
    },
    taskAccess: node => ({
      ...reader,
      write(path, content) {
        const to = port(checkedPath(path));
        catchUp();
        to.write(path, content);
        written.push({ path, content: typeof content === 'string' ? utf8Bytes(content) : content, node });
        onWritten();
      },
    }),
    refresh() {
      const changed: string[] = [];
      for (const [key, known] of answers) {
        const [kind, path] = placeOf(key);
        const mark = files?.mark(path) ?? known.mark;
        if (mark.text === known.mark.text && !known.mark.isFresh) continue;
        const kept = blobs.length;
        const now = answered(kind, path);
        if (now !== undefined && canonicalJson(now.record) === canonicalJson(known.record)) {
          blobs.length = kept;
          answers.set(key, now);
          continue;
        }
        answers.delete(key);
        changed.push(key);
      }
      if (changed.length === 0) return false;
      count += 1;
      versions.write(new Map(changed.map(key => [key, count])));
      return true;
    },
    recordOf: key => answers.get(key.slice(FILE.length))?.record,
    reading(keys) {
      const now = [...keys].filter(key => key.startsWith(FILE)).map(key => key.slice(FILE.length));
      for (const key of answers.keys()) if (!keys.has(FILE + key)) answers.delete(key);
      const paths = [...new Set(now.map(key => placeOf(key)[1]))].sort();
      const places = paths.join('\n');
      if (places === watched) return;
      watched = places;
      stopWatching?.();
      stopWatching = paths.length === 0 ? undefined : files?.watch?.(paths, onChange);
    },
    write(path, content, { node, handler }) {
      const { text, base64 } = content as { readonly text?: string; readonly base64?: string };
      const bytes = text === undefined ? Buffer.from(base64 ?? '', 'base64') : utf8Bytes(text);
      try {
        port(path).write(path, bytes);
      } catch (cause) {
        return refuse(path, cause);
      }
      note({ path, content: bytes, node, ...defined({ handler }) });
      return undefined;
    },
    settle() {
      written.forEach(note);
      written = [];
    },
    get hasNews() {
      return written.length > 0;
    },
    get isWriting() {
      return isWriting;
    },
    takeUnrecorded() {
      const taken = isUnrecorded;
      isUnrecorded = false;
      return taken;
    },
    takeBlobs() {
      const taken = blobs;
      blobs = [];
      return taken;
    },
    bytes(path) {
      try {
        const bytes = port(path).read(path);
        if (bytes !== undefined) return bytes;
      } catch (cause) {
        throw refuse(path, cause);
      }
      throw refuse(path, new Error('there is no such file'));
    },
    close() {
      stopWatching?.();
    },
  };

  /** Undefined if it can no longer be read: the render that asks again gets the error. */
  function answered(kind: Look, path: string): Answer | undefined {
    try {
      return ask(kind, path);
    } catch {
      return undefined;
    }
  }
}

/** A read key is recorded with its path, whose length is limited. */
const MAX_PATH = 900;

function placeOf(key: string): readonly [Look, string] {
  const at = key.indexOf(':');
  return [key.slice(0, at) as Look, key.slice(at + 1)];
}

function textOf(bytes: Uint8Array): string {
  if (bytes.length > MAX_FILE_BYTES)
    throw new Error(`it takes ${bytes.length} bytes; at most ${MAX_FILE_BYTES} are read`);
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new Error('it is not UTF-8 text');
  }
}
