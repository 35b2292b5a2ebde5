import * as fs from 'node:fs';
import { type Clock, type Digest, digest, timestampOf, truncateUtf8 } from '@signalbox/model';
import * as z from 'zod';
import { changesBetween } from '../checkpoints/call-changes.ts';
import type { ContentStore } from '../filesystem/content-store.ts';
import type { HostFiles } from '../filesystem/host-files.ts';
import { thrownReason } from '../filesystem/system-reason.ts';
import type { DirectoryNode } from '../filesystem/tree.ts';
import { loadTree } from '../filesystem/tree-codec.ts';
import type { Layer } from './layer.ts';
import { EMPTY_PICTURE, openCamera } from './layer-picture.ts';
import { changesSince, type InnerCall, innerCall, type Stretch, treesOf } from './stretch.ts';

/** Tells apart the changes of calls that a program on a layer makes by itself. */
export interface InnerCalls {
  /**
   * A call is about to begin, or with `running` may have begun already. Its program must not go on before this settles. The key names
   * it until it ends.
   */
  begin(key: string, options?: { readonly running?: boolean }): Promise<void>;
  /** The call has ended; this is what is known of it now. */
  end(key: string, call: Pick<InnerCall, 'id' | 'tool' | 'outcome' | 'summary'>): Promise<InnerEnd>;
  /** Nobody knows whether or how the call ended: its changes are in no call. */
  abort(key: string): Promise<void>;
  /** Directories that are not followed, because too much changed in them. */
  leftOut(): readonly string[];
}

/** What is kept of a call. Changes that are in no call of their own can be undone with all others of the layer. */
export type InnerEnd =
  /** Its changes can be undone alone. */
  | { readonly kind: 'kept' }
  | { readonly kind: 'unchanged' }
  /** Other calls ran at the same time: their keys. */
  | { readonly kind: 'mixed'; readonly with: readonly string[] }
  /** Something changed outside of every call before it was known to run: that may have been this one. */
  | { readonly kind: 'late' }
  | { readonly kind: 'unknown'; readonly reason: string };

/** The same for the call that the layer belongs to. */
export interface InnerBook extends InnerCalls {
  /** All changes so far, in order. */
  stretches(): Promise<readonly Stretch[]>;
  /** What was kept is durable when this returns, if the store is synced. */
  sync(): Promise<void>;
}

export interface InnerCallsOptions {
  readonly layer: Pick<Layer, 'root' | 'directory' | 'since' | 'view'>;
  readonly store: ContentStore;
  readonly files: HostFiles;
  readonly refillable: ReadonlySet<string>;
  readonly clock: Clock;
  /** Stores a tree. */
  keep(tree: DirectoryNode): Promise<Digest>;
  /** Removes secrets from a text. */
  clean(text: string): string;
}

/** The file in a layer's directory that names what is kept, so that it is not collected, and held with the layer. */
export const INNER = 'inner.jsonl';
const SUMMARY_BYTES = 300;

interface Underway {
  readonly startedAt: number;
  readonly with: Set<string>;
  fault?: Exclude<InnerEnd, { kind: 'kept' | 'unchanged' | 'mixed' }>;
}

/**
 * Keeps, for each inner call that can be told apart, what it changed.
 *
 * 1. Begins and ends are dealt with one after the other.
 * 2. Every change is in exactly one stretch, in order: of the one call that was under way, or of none.
 * 3. What goes wrong here concerns this record alone, never the call that the layer belongs to.
 */
export function openInnerCalls(options: InnerCallsOptions): InnerBook {
  const { layer, clock, files } = options;
  const file = `${layer.directory}/${INNER}`;
  const camera = openCamera(layer, options);
  const underway = new Map<string, Underway>();
  const stretches: Stretch[] = [];
  let last = EMPTY_PICTURE;
  let queue: Promise<unknown> = Promise.resolve();

  function next<T>(work: () => Promise<T>): Promise<T> {
    const done = queue.then(work);
    queue = done.catch(() => undefined);
    return done;
  }

  /** Keeps everything that changed since the last time as one stretch; whether there is anything. */
  async function close(call?: InnerCall): Promise<boolean> {
    const now = await camera.take(last);
    const changes = changesSince(last.changes, now.changes, camera.isLeftOut);
    if (changes.size > 0) {
      const { before, after } = treesOf(changes);
      const line = { version: 1, call, before: await options.keep(before), after: await options.keep(after) };
      append(`${JSON.stringify(line)}\n`);
      stretches.push({ ...(call && { call }), changes });
    }
    last = now;
    return changes.size > 0;
  }

  function append(line: string): void {
    const writer = files.append(file, 0o600);
    try {
      writer.write(Buffer.from(line));
    } finally {
      writer.close();
    }
  }

  return {
    begin: (key, { running = false } = {}) =>
      next(async () => {
        const own: Underway = { startedAt: clock.now(), with: new Set(underway.keys()) };
        for (const other of underway.values()) other.with.add(key);
        const isAlone = underway.size === 0;
        underway.set(key, own);
        if (!isAlone) return;
        try {
          const hasChanged = await close();
          if (hasChanged && running) own.fault = { kind: 'late' };
        } catch (cause) {
          own.fault = { kind: 'unknown', reason: thrownReason(cause) };
        }
      }),
    end: (key, { summary, ...told }) =>
      next(async () => {
        const own = underway.get(key);
        underway.delete(key);
        if (own === undefined) return { kind: 'unknown', reason: 'it never began' };
        const fault: InnerEnd | undefined = own.with.size > 0 ? { kind: 'mixed', with: [...own.with] } : own.fault;
        if (fault?.kind === 'mixed' && underway.size > 0) return fault;
        const elapsedMs = Math.max(0, clock.now() - own.startedAt);
        const said = summary === null ? null : truncateUtf8(options.clean(summary), SUMMARY_BYTES);
        const call = { ...told, summary: said, elapsedMs, at: timestampOf(clock) };
        try {
          const hasChanged = await close(fault === undefined ? call : undefined);
          return fault ?? { kind: hasChanged ? 'kept' : 'unchanged' };
        } catch (cause) {
          return fault ?? { kind: 'unknown', reason: thrownReason(cause) };
        }
      }),
    abort: key =>
      next(async () => {
        underway.delete(key);
      }),
    leftOut: camera.leftOut,
    stretches: () => next(async () => [...stretches]),
    async sync() {
      if (fs.existsSync(file)) await files.sync(file);
    },
  };
}

const lineV1 = z.strictObject({ version: z.literal(1), call: innerCall.optional(), before: digest, after: digest });

/** The stretches of a held layer; none if they cannot be read. */
export async function readStretches(directory: string, store: Pick<ContentStore, 'get'>): Promise<readonly Stretch[]> {
  const stretches: Stretch[] = [];
  try {
    for (const text of fs.readFileSync(`${directory}/${INNER}`, 'utf8').split('\n').slice(0, -1)) {
      const { call, before, after } = lineV1.parse(JSON.parse(text));
      const [own, other] = [await loadTree(store, before), await loadTree(store, after)];
      if (!own.ok || !other.ok) return [];
      stretches.push({ ...(call && { call }), changes: changesBetween(own.value, other.value) });
    }
    return stretches;
  } catch {
    return [];
  }
}
