import { randomUUID } from 'node:crypto';
import * as fs from 'node:fs';
import { Bug, err, failure, ok, type Result } from '@signalbox/model';
import { statIfThere } from '../filesystem/directory-names.ts';
import { nodeHostFiles } from '../filesystem/host-files.ts';
import { osPath } from '../filesystem/path-name.ts';
import { thrownReason } from '../filesystem/system-reason.ts';
import { COPY_LIMITS, type CopiedTree, type CopyLimits, copyTree, stampOf } from './copied-tree.ts';
import { instantNear } from './filesystem-instant.ts';
import { type CallOfLayer, type Layer, type LayerEntry, type Layers, type NoLayerError, noLayer } from './layer.ts';
import type { LayerChange } from './layer-change.ts';
import { layersLeft, reasonAgainstCopy } from './layer-directories.ts';
import { changedInCopy, readCopy } from './read-copy.ts';
import { createRemoval } from './remove-soon.ts';

/**
 * Copies of directories that stand in for layers, for programs that may work at another path. `upper` is the whole copy, so that changes are
 * applied, held and undone like those of a layer.
 */
export function createCopies(home: string, limits: CopyLimits = COPY_LIMITS) {
  const removal = createRemoval(nodeHostFiles);

  return {
    /** `why`: the sentence that says why there is no layer. */
    async open(root: string, why: string, call?: CallOfLayer): Promise<Result<Layer, NoLayerError>> {
      let directory: string | undefined;
      try {
        fs.mkdirSync(home, { recursive: true, mode: 0o700 });
        const own = fs.realpathSync(home);
        const reason = reasonAgainstCopy(root, own);
        if (reason !== undefined) return err(noCopy(why, reason));
        const id = randomUUID();
        directory = `${own}/${id}`;
        const upper = `${directory}/upper`;
        for (const path of [directory, upper]) fs.mkdirSync(path, 0o700);
        const place = fs.lstatSync(root, { bigint: true });
        const tree = await copyTree(root, upper, limits);
        const since = await instantNear(root, directory);
        const made = { id, root, directory, place: { dev: String(place.dev), ino: String(place.ino) }, since };
        if (call !== undefined) layersLeft.note(directory, call);
        return ok(layerOf(made, { upper, tree, why }));
      } catch (cause) {
        if (directory !== undefined) removal.soon(directory);
        return err(noCopy(why, thrownReason(cause)));
      }
    },
  };

  function layerOf(
    made: Pick<Layer, 'id' | 'root' | 'directory' | 'place' | 'since'>,
    { upper, tree, why }: { readonly upper: string; readonly tree: CopiedTree; readonly why: string },
  ): Layer {
    const entry: LayerEntry = {
      ...{ directory: made.directory, isMapped: false, view: () => upper },
      copy: { at: upper, why, isCloned: tree.isCloned, changed: () => changedInCopy(upper, tree) },
      start() {
        throw new Bug('a program is started in the copy, not on a layer');
      },
      entered() {},
      beside: () => undefined,
      ahead() {},
    };
    return {
      ...{ ...made, entry, view: () => upper, leave() {} },
      copied: {
        read: () => readCopy(made.root, upper, tree),
        keepOnly: changes => keepOnly(upper, tree, changes),
      },
      drop() {
        layersLeft.forget(made.directory);
        removal.soon(made.directory);
      },
    };
  }
}

/** Removes files of a copy that were not changed: the changes that are held need none of them. */
function keepOnly(upper: string, { entries }: CopiedTree, changes: readonly LayerChange[]): void {
  const changed = new Set(changes.map(({ path }) => path));
  for (const [path, { below, copy }] of entries) {
    if (below.kind === 'directory' || changed.has(path)) continue;
    const there = statIfThere(`${upper}/${path}`);
    if (there !== undefined && stampOf(there) === copy) fs.rmSync(osPath(`${upper}/${path}`), { force: true });
  }
}

/** The layers of a machine that has none: only copies. */
export function createCopiesOnly(home: string, why: string): Layers {
  const copies = createCopies(home);
  const removal = createRemoval(nodeHostFiles);
  const none = async (root: string) => err(noLayer(root, why));
  return {
    ...{ home, open: none, openOver: none, prepare() {}, refuse() {} },
    openCopy: copies.open,
    remove(id) {
      layersLeft.forget(`${home}/${id}`);
      removal.soon(`${home}/${id}`);
    },
    sweep: needed => layersLeft.sweep(home, needed, directory => removal.soon(directory)),
  };
}

function noCopy(why: string, reason: string): NoLayerError {
  return failure('state/no-layer', {
    message: `${why}; and it cannot be copied: ${reason}`,
    suggestion: 'Use a directory that can be copied, or see `signalbox doctor` for what layers need.',
  });
}
