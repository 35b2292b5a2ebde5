import * as fs from 'node:fs';
import path from 'node:path';
import { openToRead, replaceFile } from '@signalbox/state';

/** The largest file that an agent reads or writes through us. */
const MAX_FILE_BYTES = 10_000_000;
const MAX_LINKS = 40;

export type FileAccess =
  | { readonly kind: 'done'; readonly content: string }
  | { readonly kind: 'missing' }
  | { readonly kind: 'refused'; readonly reason: string };

/**
 * Files that an agent reads and writes through us, below its working directory as it sees it.
 *
 * 1. Nothing outside the directory is reached: every part of a path is opened below the last one and links are resolved here,
 *    so a directory that the agent replaces by a link meanwhile leads nowhere.
 * 2. A write lands where the agent's own writes do: on its layer.
 */
export interface AgentFiles {
  /** Whether a path may be used at all, without using it. */
  look(file: string): FileAccess;
  read(file: string): FileAccess;
  write(file: string, content: string): FileAccess;
}

export interface AgentFilesOptions {
  /** The directory by the name that the agent uses. */
  readonly root: string;
  /** Absolute paths that may not be entered, by the same names. */
  readonly refused: readonly string[];
  /** Where the directory is for us at this moment. */
  view(): string | undefined;
}

export function createAgentFiles({ root, refused, view }: AgentFilesOptions): AgentFiles {
  /** Works on the last part of a path in its opened directory. */
  function at(file: string, make: boolean, work: (place: string) => FileAccess): FileAccess {
    const top = view();
    if (top === undefined) return { kind: 'refused', reason: 'the directory is not open' };
    const parts = partsBelow(root, file);
    if (parts === undefined) return { kind: 'refused', reason: `it is outside ${root}` };
    let held = fs.openSync(top, fs.constants.O_RDONLY | fs.constants.O_DIRECTORY);
    const reached: string[] = [];
    const enter = (place: string) => {
      const next = fs.openSync(place, fs.constants.O_RDONLY | fs.constants.O_DIRECTORY | fs.constants.O_NOFOLLOW);
      fs.closeSync(held);
      held = next;
    };
    try {
      let waiting = [...parts];
      for (let links = 0; ; ) {
        const [part] = waiting;
        if (part === undefined) return { kind: 'refused', reason: 'it is a directory' };
        const absolute = path.join(root, ...reached, part);
        if (refused.some(one => absolute === one || absolute.startsWith(`${one}/`)))
          return { kind: 'refused', reason: 'it may not be entered' };
        const place = `/proc/self/fd/${held}/${part}`;
        const there = fs.lstatSync(place, { throwIfNoEntry: false });
        if (there?.isSymbolicLink() === true) {
          const target = path.resolve(path.join(root, ...reached), fs.readlinkSync(place));
          const led = partsBelow(root, target);
          if (led === undefined || ++links > MAX_LINKS)
            return { kind: 'refused', reason: `a link leads out of ${root}` };
          // From the top again: the link may lead up.
          waiting = [...led, ...waiting.slice(1)];
          reached.length = 0;
          fs.closeSync(held);
          held = fs.openSync(top, fs.constants.O_RDONLY | fs.constants.O_DIRECTORY);
          continue;
        }
        if (waiting.length === 1) return work(place);
        if (there === undefined) {
          if (!make) return { kind: 'missing' };
          fs.mkdirSync(place);
        }
        enter(place);
        reached.push(part);
        waiting = waiting.slice(1);
      }
    } catch (cause) {
      const { code, message } = cause as NodeJS.ErrnoException;
      if (code === 'ENOENT') return { kind: 'missing' };
      return { kind: 'refused', reason: code ?? message };
    } finally {
      fs.closeSync(held);
    }
  }

  return {
    look: file =>
      at(file, false, place => {
        const there = fs.lstatSync(place, { throwIfNoEntry: false });
        if (there === undefined) return { kind: 'missing' };
        return there.isFile() ? { kind: 'done', content: '' } : { kind: 'refused', reason: 'it is not a file' };
      }),
    read: file =>
      at(file, false, place => {
        const descriptor = openToRead(place);
        try {
          const { size } = fs.fstatSync(descriptor);
          if (size > MAX_FILE_BYTES) return { kind: 'refused', reason: `it is longer than ${MAX_FILE_BYTES} bytes` };
          return { kind: 'done', content: fs.readFileSync(descriptor, 'utf8') };
        } finally {
          fs.closeSync(descriptor);
        }
      }),
    write: (file, content) =>
      at(file, true, place => {
        replaceFile(place, content);
        return { kind: 'done', content };
      }),
  };
}

/** The part of a file that a request wants: from a line (the first is 1), up to a number of lines. */
export function linesOf(content: string, line: number | null | undefined, limit: number | null | undefined): string {
  if (line == null && limit == null) return content;
  const from = Math.max(0, (line ?? 1) - 1);
  return content
    .split('\n')
    .slice(from, limit == null ? undefined : from + limit)
    .join('\n');
}

function partsBelow(root: string, file: string): readonly string[] | undefined {
  if (!path.isAbsolute(file) || file.includes('\0')) return undefined;
  const normal = path.normalize(file).replace(/\/$/, '');
  if (normal === root) return [];
  return normal.startsWith(`${root}/`) ? normal.slice(root.length + 1).split('/') : undefined;
}
