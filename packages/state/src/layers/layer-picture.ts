import { type CallChanges, changesBetween } from '../checkpoints/call-changes.ts';
import type { ContentStore } from '../filesystem/content-store.ts';
import { namesIn, statIfThere } from '../filesystem/directory-names.ts';
import { isWithin } from '../filesystem/path-locks.ts';
import { joined, type TreeNode } from '../filesystem/tree.ts';
import { type KnownNodes, keepImages } from './change-images.ts';
import { instantNear } from './filesystem-instant.ts';
import type { Layer } from './layer.ts';
import { readLiveChanges } from './read-changes.ts';

/** Everything that a layer changes at a moment, with contents in the store. */
export interface LayerPicture {
  readonly changes: CallChanges;
  /** Identifies each entry of the upper directory as it was then. */
  readonly stamps: ReadonlyMap<string, string>;
}

export const EMPTY_PICTURE: LayerPicture = { changes: new Map(), stamps: new Map() };

export interface LayerCamera {
  /** A picture of the layer now. The cost follows its changes; only contents that changed since the last picture are read. */
  take(last: LayerPicture): Promise<LayerPicture>;
  /** Whether a path is in a directory with too much in it to be followed. Such a directory stays out of all later pictures. */
  isLeftOut(path: string): boolean;
  leftOut(): readonly string[];
}

/** More entries than this are not followed. */
const MOST_ENTRIES = 10_000;
/** In one directory that tools can fill again, such as `node_modules`. */
const MOST_REFILLABLE = 2_000;
/** Other work goes on after so many entries. */
const AT_ONCE = 1_000;

/**
 * Takes pictures of a layer while a program works on it.
 *
 * 1. The program notices nothing: what is on the layer is only read.
 * 2. Two pictures with equal stamps are equal: each is taken after a tick of the clock that stamps changes, so a later change has another stamp.
 * 3. A file that is written while it is read has another stamp in the next picture, and is read again then.
 */
export function openCamera(
  layer: Pick<Layer, 'root' | 'directory' | 'since' | 'view'>,
  options: { readonly store: ContentStore; readonly refillable: ReadonlySet<string> },
): LayerCamera {
  const upper = `${layer.directory}/upper`;
  const leftOut = new Set<string>();
  const seen = new Map<string, { readonly stamp: string; readonly node: TreeNode }>();
  const isLeftOut = (path: string) => [...leftOut].some(one => isWithin(path, one));

  return {
    isLeftOut,
    leftOut: () => [...leftOut],
    async take(last) {
      const view = layer.view();
      if (view === undefined) throw new Error('nothing was started on the layer');
      await instantNear(layer.directory, layer.directory);
      const stamps = await stampsNow();
      if (isSame(stamps, last.stamps)) return last;
      const changes = readLiveChanges(layer, view, leftOut);
      const place = { root: layer.root, upper };
      const images = await keepImages(place, changes, { ...options, known: knownIn(stamps) });
      return { stamps, changes: changesBetween(images.before, images.after) };
    },
  };

  async function stampsNow(): Promise<ReadonlyMap<string, string>> {
    const stamps = new Map<string, string>();
    const look = async (path: string, refilled: { readonly at: string; count: number } | undefined): Promise<void> => {
      for (const name of namesIn(`${upper}/${path}`)) {
        const at = joined(path, name);
        const stat = leftOut.has(at) ? undefined : statIfThere(`${upper}/${at}`);
        if (stat === undefined) continue;
        stamps.set(at, `${stat.ino} ${stat.ctimeNs} ${stat.size} ${stat.mode}`);
        if (stamps.size > MOST_ENTRIES) throw new Error(`more than ${MOST_ENTRIES} entries changed`);
        if (stamps.size % AT_ONCE === 0) await new Promise<void>(resolve => setImmediate(resolve));
        if (refilled !== undefined && ++refilled.count > MOST_REFILLABLE) return;
        if (!stat.isDirectory()) continue;
        const inner = refilled ?? (options.refillable.has(name) ? { at, count: 0 } : undefined);
        await look(at, inner);
        if (inner === undefined || inner.count <= MOST_REFILLABLE) continue;
        if (refilled !== undefined) return;
        leftOut.add(at);
        for (const path of stamps.keys()) if (isWithin(path, at)) stamps.delete(path);
      }
    };
    await look('', undefined);
    const own = statIfThere(upper);
    return stamps.set('', `${own?.mode} ${own?.uid} ${own?.gid}`);
  }

  function knownIn(stamps: ReadonlyMap<string, string>): KnownNodes {
    const lookUp = async (key: string, stamp: string, read: () => Promise<TreeNode>) => {
      const known = seen.get(key);
      if (known?.stamp === stamp) return known.node;
      const node = await read();
      seen.set(key, { stamp, node });
      return node;
    };
    return {
      inRoot: (path, { ino, mtime, size }, read) => lookUp(`root ${path}`, `${ino} ${mtime} ${size}`, read),
      onLayer: (path, read) => lookUp(`layer ${path}`, stamps.get(path) ?? '', read),
    };
  }
}

function isSame(a: ReadonlyMap<string, string>, b: ReadonlyMap<string, string>): boolean {
  if (a.size !== b.size) return false;
  for (const [path, stamp] of a) if (b.get(path) !== stamp) return false;
  return true;
}
