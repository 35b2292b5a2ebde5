import { randomUUID } from 'node:crypto';
import * as fs from 'node:fs';
import { err, ok } from '@signalbox/model';
import * as z from 'zod';
import { nodeHostFiles, removeTree } from '../filesystem/host-files.ts';
import { isWithin } from '../filesystem/path-locks.ts';
import { instantNear } from './filesystem-instant.ts';
import { heldIn } from './held-changes.ts';
import { type CallOfLayer, HOLD_FD, type Layer, type LayerEntry, type Layers, noLayer } from './layer.ts';
import { mountsInside } from './mount-table.ts';
import { removeSoon } from './remove-soon.ts';

export interface OverlayLayersOptions {
  /** Where layers are kept, outside of every root. */
  readonly home: string;
  /** The system's `unshare` and `mount`. */
  readonly programs: { readonly unshare: string; readonly mount: string };
}

/**
 * Layers by the kernel's overlay filesystem, mounted over the root in a namespace of its own.
 *
 * 1. The upper directory is new for each layer and has the root's own attributes, which the layer shows as the root's.
 * 2. A process in the namespace keeps it mounted until we have read the changes. It waits on a pipe of ours, so it is gone
 *    when we are.
 * 3. A root with mounts inside it gets none: the overlay would not show them.
 */
export function createOverlayLayers(options: OverlayLayersOptions): Layers {
  const { home, programs } = options;
  const files = nodeHostFiles;
  // Root mounts in a mount namespace; everybody else in a user namespace of their own.
  const isRoot = process.geteuid?.() === 0;
  const refused = new Map<string, string>();

  return {
    home,
    async open(root, call) {
      const known = refused.get(root);
      if (known !== undefined) return err(noLayer(root, known));
      const id = randomUUID();
      let directory: string | undefined;
      try {
        fs.mkdirSync(home, { recursive: true, mode: 0o700 });
        const base = fs.realpathSync(home);
        const reason = reasonAgainst(root, base);
        if (reason !== undefined) return err(noLayer(root, reason));
        directory = `${base}/${id}`;
        const own = fs.lstatSync(root, { bigint: true });
        for (const path of [directory, `${directory}/upper`, `${directory}/work`]) files.mkdir(path, 0o700);
        if (isRoot) files.chown(`${directory}/upper`, Number(own.uid), Number(own.gid));
        files.chmod(`${directory}/upper`, Number(own.mode) & 0o7777);
        if (call !== undefined) fs.writeFileSync(`${directory}/${CALL}`, JSON.stringify(call), { mode: 0o600 });
        const since = await instantNear(root, directory);
        return ok(layerOf({ id, root, place: { dev: String(own.dev), ino: String(own.ino) }, directory, since }));
      } catch (cause) {
        if (directory !== undefined) removeTree(files, directory);
        return err(noLayer(root, (cause as Error).message));
      }
    },
    refuse: (root, reason) => void refused.set(root, reason),
    remove: id => removeSoon(files, `${home}/${id}`),
    sweep(needed) {
      const held = new Set(heldIn(home).map(({ layer }) => layer));
      const left = fs.existsSync(home) ? fs.readdirSync(home) : [];
      return left.flatMap(name => {
        if (held.has(name) || needed.has(name)) return [];
        const call = callIn(`${home}/${name}`);
        removeSoon(files, `${home}/${name}`);
        return call === undefined ? [] : [call];
      });
    },
  };

  function layerOf(facts: Pick<Layer, 'id' | 'root' | 'place' | 'directory' | 'since'>): Layer {
    const { root, directory } = facts;
    let held: { readonly view: string; readonly release: () => void } | undefined;
    const leave = () => {
      held?.release();
      held = undefined;
    };
    const entry: LayerEntry = {
      isMapped: !isRoot,
      command: [
        ...[programs.unshare, isRoot ? '--mount' : '--map-root-user', ...(isRoot ? [] : ['--user', '--mount'])],
        ...['/bin/sh', '-c', ENTER, 'layer', root, directory, programs.mount, isRoot ? '' : ',userxattr'],
      ],
      entered(holder, release) {
        held = { view: `/proc/${holder}/cwd`, release };
      },
    };
    return {
      ...facts,
      entry,
      view: () => held?.view,
      leave,
      drop() {
        leave();
        removeSoon(files, directory);
      },
    };
  }
}

/**
 * Mounts the layer over the root, leaves a process behind that keeps it mounted, and becomes the command. Directories are
 * handed over as descriptors: their names may hold what mount options cannot.
 */
const ENTER = `cd -- "$1" && exec 6<. 7<"$2/upper" 8<"$2/work" || exit 1
"$3" -i -n -t overlay overlay -o "lowerdir=/proc/self/fd/6,upperdir=/proc/self/fd/7,workdir=/proc/self/fd/8,volatile$4" "$1" || exit 1
exec 6<&- 7<&- 8<&-
cd -- "$1" || exit 1
{ read -r gone <&${HOLD_FD}; } >/dev/null 2>&1 3>&- 4>&- &
echo "{\\"layer\\":$!}" >&3
exec ${HOLD_FD}<&-
shift 4
exec "$@"`;

const CALL = 'call.json';
const callOfLayer = z.strictObject({ id: z.string(), tool: z.string(), evaluation: z.string() });

function callIn(directory: string): CallOfLayer | undefined {
  try {
    return callOfLayer.parse(JSON.parse(fs.readFileSync(`${directory}/${CALL}`, 'utf8')));
  } catch {
    return undefined;
  }
}

/** Why a directory cannot have a layer, as far as that can be told without mounting one. */
function reasonAgainst(root: string, home: string): string | undefined {
  if (isWithin(home, root)) return 'the data directory is inside it';
  const [mount] = mountsInside(root);
  return mount === undefined ? undefined : `${mount} is mounted inside it`;
}
