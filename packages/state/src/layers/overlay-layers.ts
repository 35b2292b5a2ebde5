import { randomUUID } from 'node:crypto';
import * as fs from 'node:fs';
import { err, ok, type Result } from '@signalbox/model';
import { PATH_ONLY } from '../filesystem/closed-paths.ts';
import { nodeHostFiles } from '../filesystem/host-files.ts';
import { thrownReason } from '../filesystem/system-reason.ts';
import { startProgram } from '../programs/start-program.ts';
import { COMMAND_STDIO } from '../sandbox/command-pipes.ts';
import { instantNear } from './filesystem-instant.ts';
import {
  type CallOfLayer,
  type Layer,
  type LayerEntry,
  type Layers,
  type NoLayerError,
  noLayer,
  type Standby,
} from './layer.ts';
import { createCopies } from './layer-copies.ts';
import { layersLeft, reasonAgainst } from './layer-directories.ts';
import { makeNamespace, type Namespace } from './namespace.ts';
import { createRemoval } from './remove-soon.ts';

export interface OverlayLayersOptions {
  /** Where layers are kept, outside of every root. */
  readonly home: string;
  /** The system's `unshare` and `mount`, and `nsenter` if it is there. */
  readonly programs: { readonly unshare: string; readonly mount: string; readonly nsenter?: string | undefined };
}

/**
 * Layers using the kernel's overlay filesystem, mounted over the root in a separate namespace.
 *
 * 1. The upper directory is new for each layer and has the root's own attributes, which the layer shows as the root's.
 * 2. Our descriptor keeps it mounted until we have read the changes, even after the namespace is gone. It is closed when
 *    this process ends, in whatever way.
 * 3. A root with mounts inside it gets none: the overlay would not show them.
 * 4. It is mounted ahead, and used only if the root is still the same directory with the same attributes. Until a command
 *    reads, the overlay has seen only the root directory itself. A program started on it ahead waits without reading.
 */
export function createOverlayLayers(options: OverlayLayersOptions): Layers {
  const { home, programs } = options;
  const files = nodeHostFiles;
  const isRoot = process.geteuid?.() === 0;
  /** By root, the oldest first. */
  const ready = new Map<string, MountedLayer>();
  const refused = new Map<string, string>();
  /** What to start ahead, by root. */
  const starters = new Map<string, (next: LayerEntry) => Standby>();
  const removal = createRemoval(files);
  const copies = createCopies(home);

  return {
    home,
    open: (root, call) => open(root, () => takeReady(root) ?? make(root), call),
    openOver: (root, held) => open(root, () => make(root, `${homeNow()}/${held}/upper`)),
    openCopy: (root, why, call) => copies.open(root, why, call),
    prepare,
    refuse: (root, reason) => void refused.set(root, reason),
    remove: id => discard(`${home}/${id}`),
    sweep: needed => layersLeft.sweep(home, needed, directory => removal.soon(directory)),
  };

  async function open(
    root: string,
    mount: () => MountedLayer,
    call?: CallOfLayer,
  ): Promise<Result<Layer, NoLayerError>> {
    const known = refused.get(root);
    if (known !== undefined) return err(noLayer(root, known));
    let mounted: MountedLayer | undefined;
    try {
      const reason = reasonAgainst(root, homeNow());
      if (reason !== undefined) return err(noLayer(root, reason));
      mounted = mount();
      const { directory } = mounted;
      if (call !== undefined) layersLeft.note(directory, call);
      removal.finishShared();
      return ok(layerOf({ ...mounted, since: await instantNear(root, directory) }));
    } catch (cause) {
      if (mounted !== undefined) letGo(mounted);
      return err(noLayer(root, thrownReason(cause)));
    }
  }

  function homeNow(): string {
    fs.mkdirSync(home, { recursive: true, mode: 0o700 });
    return fs.realpathSync(home);
  }

  /** `over`: the writes of another layer, which this one shows over the root. */
  function make(root: string, over = ''): MountedLayer {
    const id = randomUUID();
    const directory = `${homeNow()}/${id}`;
    for (const path of [directory, `${directory}/upper`, `${directory}/work`]) files.mkdir(path, 0o700);
    const own = fs.lstatSync(root, { bigint: true });
    if (isRoot) files.chown(`${directory}/upper`, Number(own.uid), Number(own.gid));
    files.chmod(`${directory}/upper`, Number(own.mode) & 0o7777);
    const namespace = makeNamespace({
      ...{ unshare: programs.unshare, isRoot, later: `${directory}/${ENTER}` },
      first: { script: MOUNT, args: [root, directory, programs.mount, isRoot ? '' : ',userxattr', over] },
    });
    const place = { dev: String(own.dev), ino: String(own.ino) };
    return {
      id,
      root,
      directory,
      place,
      namespace,
      attributes: attributesOf(own),
      ...entryOf(root, directory, namespace),
    };
  }

  function entryOf(root: string, directory: string, namespace: Namespace): Entry {
    let held: number | undefined;
    let first: number | undefined;
    const view = () => (held === undefined ? undefined : `/proc/self/fd/${held}`);
    return {
      entry: {
        directory,
        isMapped: !isRoot,
        view,
        start: script => namespace.run(script),
        entered(pid) {
          held = fs.openSync(`/proc/${pid}/cwd`, PATH_ONLY | fs.constants.O_DIRECTORY);
          first = pid;
        },
        beside: () =>
          first === undefined || held === undefined ? undefined : entryBeside(first, root, directory, view),
        ahead(start) {
          if (start === undefined) starters.delete(root);
          else starters.set(root, start);
        },
      },
      view,
      leave() {
        if (held !== undefined) fs.closeSync(held);
        held = undefined;
      },
    };
  }

  /** Enters the namespace of a layer that is in use. Its first process ends with the program that the layer was opened for. */
  function entryBeside(
    first: number,
    root: string,
    directory: string,
    view: LayerEntry['view'],
  ): LayerEntry | undefined {
    const { nsenter } = programs;
    if (nsenter === undefined) return undefined;
    const spaces = isRoot ? [] : [`--user=/proc/${first}/ns/user`, '--preserve-credentials'];
    return {
      directory,
      isMapped: !isRoot,
      view,
      start: script =>
        startProgram(
          nsenter,
          [...spaces, `--mount=/proc/${first}/ns/mnt`, '/bin/sh', '-c', `${BESIDE}\n${script}`, 'sh', root],
          { cwd: '/', env: {}, detached: true, stdio: COMMAND_STDIO },
        ),
      entered() {},
      beside: () => undefined,
      ahead() {},
    };
  }

  /**
   * If mounting ahead fails, the next layer is created on demand and reports why it cannot be. An unused one is dropped: its
   * namespace keeps filesystems busy that somebody may want to unmount. A home that is gone meanwhile is not recreated.
   */
  function prepare(root: string): void {
    const ahead = () => {
      if (ready.has(root) || refused.has(root) || !fs.existsSync(home)) return;
      try {
        if (reasonAgainst(root, homeNow()) !== undefined) return;
        const made = make(root);
        ready.set(root, made);
        made.standby = starters.get(root)?.(made.entry);
        setTimeout(() => letReadyGo(made), READY_MS).unref();
        for (const oldest of [...ready.values()].slice(0, -MOST_READY)) letReadyGo(oldest);
      } catch {
        const half = ready.get(root);
        if (half !== undefined) letReadyGo(half);
      }
    };
    try {
      homeNow();
      setImmediate(ahead).unref();
    } catch {}
  }

  function takeReady(root: string): MountedLayer | undefined {
    const taken = ready.get(root);
    ready.delete(root);
    if (taken === undefined || isUsable(taken)) return taken;
    letGo(taken);
    return undefined;
  }

  function letReadyGo(made: MountedLayer): void {
    if (ready.get(made.root) !== made) return;
    ready.delete(made.root);
    letGo(made);
  }

  function letGo({ namespace, standby, leave, directory }: MountedLayer): void {
    standby?.end();
    leave();
    namespace.end();
    discard(directory);
  }

  function discard(directory: string): void {
    layersLeft.forget(directory);
    removal.soon(directory);
  }

  function layerOf(mounted: MountedLayer & Pick<Layer, 'since'>): Layer {
    const { id, root, directory, place, since, entry, view, leave } = mounted;
    return {
      ...{ id, root, directory, place, since, entry, view, leave },
      drop() {
        letGo(mounted);
        prepare(root);
      },
    };
  }
}

/** How long a layer mounted ahead waits to be used. */
const READY_MS = 60_000;

/** Roots with a waiting layer. */
const MOST_READY = 4;

/** A layer that is mounted, or about to be, and not in use. */
interface MountedLayer extends Pick<Layer, 'id' | 'root' | 'directory' | 'place'>, Entry {
  readonly namespace: Namespace;
  standby?: Standby | undefined;
  /** The root's attributes when they were copied to the upper directory. */
  readonly attributes: string;
}

type Entry = Pick<Layer, 'entry' | 'view' | 'leave'>;

/** Whether it still matches a new one: its processes and directory exist, and the mounts and the root are unchanged. */
function isUsable({ root, directory, place, attributes, namespace, standby }: MountedLayer): boolean {
  if (!namespace.isCurrent() || standby?.isAlive() === false) return false;
  const own = fs.lstatSync(root, { bigint: true });
  const isSame = String(own.dev) === place.dev && String(own.ino) === place.ino && attributesOf(own) === attributes;
  return isSame && fs.existsSync(directory);
}

function attributesOf({ mode, uid, gid }: fs.BigIntStats): string {
  return `${mode} ${uid} ${gid}`;
}

/**
 * Mounts the layer over the root and reports its process. The command that follows waits for its options until we have
 * entered the layer too. Directories are passed as descriptors, and the writes of
 * another layer as the working directory: their names may contain characters that mount options cannot.
 */
const MOUNT = `cd -- "$1" && exec 6<. 7<"$2/upper" 8<"$2/work" || exit 1
over=
if [ -n "$5" ]; then cd -- "$5" && over=.: || exit 1; fi
"$3" -i -n -t overlay overlay -o "lowerdir=$over/proc/self/fd/6,upperdir=/proc/self/fd/7,workdir=/proc/self/fd/8,volatile$4" "$1" || exit 1
exec 6<&- 7<&- 8<&-
cd -- "$1" || exit 1
echo "{\\"layer\\":$$}" >&3`;

/** The layer is mounted already. */
const BESIDE = `cd -- "$1" || exit 1
echo "{\\"layer\\":$$}" >&3`;

const ENTER = 'enter';
