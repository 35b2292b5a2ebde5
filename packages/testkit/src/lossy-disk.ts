/**
 * An in-memory disk that forgets unsynced data.
 *
 * L1  Programs see every operation at once, as through an operating system's page cache.
 * L2  Each operation has one effect: bytes of a file (made durable by syncing that file) or a name in a directory (made
 *     durable by syncing that directory). Nothing else makes anything durable.
 * L3  A power cut keeps everything durable, any subset of the other effects in order, and any number of bytes of the last
 *     unsynced write.
 */
import { type Disk, DiskError, type OpenFile } from '@signalbox/journal';

export interface LossyDisk extends Disk {
  /** What a power cut may lose now. */
  pending(): readonly PendingEffect[];
  /**
   * The disk after a power cut. `survivors` are positions in `pending()`; `tornBytes`, if given, is how much of the last
   * pending write is left if it survives.
   */
  afterPowerCut(survivors: ReadonlySet<number>, tornBytes?: number): LossyDisk;
  /** An independent copy of what programs see, all of it durable. */
  copy(): LossyDisk;
}

interface PendingEffect {
  readonly kind: 'name' | 'write' | 'truncate';
  readonly path: string;
  readonly bytes: number;
}

interface FileNode {
  readonly kind: 'file';
  bytes: Uint8Array;
}

interface DirectoryNode {
  readonly kind: 'directory';
  readonly entries: Map<string, DiskNode>;
}

type DiskNode = FileNode | DirectoryNode;

/** One change, and how to apply it to a durable tree with the same nodes. */
interface Effect {
  readonly info: PendingEffect;
  /** The node whose sync makes it durable. */
  readonly owner: DiskNode;
  apply(durable: DurableState, bytes?: number): void;
}

/** The durable content, by the node that programs see. */
interface DurableState {
  readonly files: Map<FileNode, Uint8Array>;
  readonly entries: Map<DirectoryNode, Map<string, DiskNode>>;
}

const NO_BYTES = new Uint8Array(0);

export function lossyDisk(): LossyDisk {
  return diskOf({ kind: 'directory', entries: new Map() });
}

/** A disk whose whole tree is durable. */
function diskOf(root: DirectoryNode): LossyDisk {
  const durable: DurableState = { files: new Map(), entries: new Map() };
  recordDurable(root, durable);
  let effects: Effect[] = [];

  function find(path: string): DiskNode | undefined {
    let node: DiskNode | undefined = root;
    for (const name of namesOf(path)) node = node?.kind === 'directory' ? node.entries.get(name) : undefined;
    return node;
  }

  function parentOf(path: string): { readonly directory: DirectoryNode; readonly name: string } {
    const names = namesOf(path);
    const name = names.pop() ?? '';
    const directory = find(names.join('/'));
    if (directory?.kind !== 'directory') throw new DiskError('open', 'ENOENT');
    return { directory, name };
  }

  function change(info: PendingEffect, owner: DiskNode, apply: Effect['apply']): void {
    effects.push({ info, owner, apply });
  }

  function link(path: string, node: DiskNode, unlinked?: string): void {
    const { directory, name } = parentOf(path);
    directory.entries.set(name, node);
    if (unlinked !== undefined) directory.entries.delete(unlinked);
    change({ kind: 'name', path, bytes: 0 }, directory, state => {
      const entries = state.entries.get(directory) ?? new Map<string, DiskNode>();
      if (unlinked !== undefined) entries.delete(unlinked);
      state.entries.set(directory, entries.set(name, node));
    });
  }

  function makeDurable(owner: DiskNode): void {
    for (const effect of effects) if (effect.owner === owner) effect.apply(durable);
    effects = effects.filter(effect => effect.owner !== owner);
  }

  function openFile(path: string, file: FileNode): OpenFile {
    return {
      write(bytes) {
        const at = file.bytes.length;
        file.bytes = withBytes(file.bytes, at, bytes);
        change({ kind: 'write', path, bytes: bytes.length }, file, (state, kept = bytes.length) => {
          if (kept > 0) {
            state.files.set(file, withBytes(state.files.get(file) ?? NO_BYTES, at, bytes.subarray(0, kept)));
          }
        });
      },
      sync: () => makeDurable(file),
      truncate(length) {
        file.bytes = file.bytes.slice(0, length);
        change({ kind: 'truncate', path, bytes: 0 }, file, state => {
          state.files.set(file, (state.files.get(file) ?? NO_BYTES).slice(0, length));
        });
      },
      close() {},
    };
  }

  return {
    makeDirectory(path) {
      if (find(path) !== undefined) return false;
      link(path, { kind: 'directory', entries: new Map() });
      return true;
    },
    open(path, mode) {
      const existing = find(path);
      if (existing?.kind === 'directory') throw new DiskError('open', 'EISDIR');
      const file = existing ?? { kind: 'file', bytes: NO_BYTES };
      if (existing === undefined) link(path, file);
      const opened = openFile(path, file);
      if (mode === 'create' && file.bytes.length > 0) opened.truncate(0);
      return opened;
    },
    rename(from, to) {
      const source = parentOf(from);
      const node = source.directory.entries.get(source.name);
      if (node === undefined) throw new DiskError('rename', 'ENOENT');
      if (parentOf(to).directory !== source.directory) throw new DiskError('rename', 'EXDEV');
      link(to, node, source.name);
    },
    syncDirectory(path) {
      const directory = find(path);
      if (directory?.kind !== 'directory') throw new DiskError('sync directory', 'ENOENT');
      makeDurable(directory);
    },
    syncFile(path) {
      const file = find(path);
      if (file?.kind !== 'file') throw new DiskError('sync', 'ENOENT');
      makeDurable(file);
    },
    size(path) {
      const node = find(path);
      return node?.kind === 'file' ? node.bytes.length : undefined;
    },
    read(path, from = 0) {
      const node = find(path);
      if (node === undefined) return 'missing';
      return node.kind === 'file' ? node.bytes.slice(from) : 'not_a_file';
    },
    kind: path => find(path)?.kind ?? 'missing',
    list(path) {
      const node = find(path);
      return node?.kind === 'directory' ? [...node.entries.keys()].sort() : [];
    },

    pending: () => effects.map(effect => effect.info),
    afterPowerCut(survivors, tornBytes) {
      const left: DurableState = {
        files: new Map(durable.files),
        entries: new Map([...durable.entries].map(([directory, entries]) => [directory, new Map(entries)])),
      };
      const lastWrite = effects.findLastIndex(effect => effect.info.kind === 'write');
      for (const [position, effect] of effects.entries()) {
        if (survivors.has(position)) effect.apply(left, position === lastWrite ? tornBytes : undefined);
      }
      return diskOf(treeOf(root, left));
    },
    copy: () => diskOf(copyOf(root)),
  };
}

function namesOf(path: string): string[] {
  return path.split('/').filter(name => name !== '');
}

/** The content of a gap is undefined on a real disk too; most leave zeros. */
function withBytes(bytes: Uint8Array, at: number, added: Uint8Array): Uint8Array {
  const result = new Uint8Array(Math.max(bytes.length, at + added.length));
  result.set(bytes);
  result.set(added, at);
  return result;
}

function recordDurable(directory: DirectoryNode, state: DurableState): void {
  state.entries.set(directory, new Map(directory.entries));
  for (const node of directory.entries.values()) {
    if (node.kind === 'directory') recordDurable(node, state);
    else state.files.set(node, node.bytes);
  }
}

function treeOf(directory: DirectoryNode, state: DurableState): DirectoryNode {
  const entries = new Map<string, DiskNode>();
  for (const [name, node] of state.entries.get(directory) ?? []) {
    const survived: DiskNode =
      node.kind === 'directory' ? treeOf(node, state) : { kind: 'file', bytes: state.files.get(node) ?? NO_BYTES };
    entries.set(name, survived);
  }
  return { kind: 'directory', entries };
}

function copyOf(directory: DirectoryNode): DirectoryNode {
  const entries = new Map<string, DiskNode>();
  for (const [name, node] of directory.entries)
    entries.set(name, node.kind === 'directory' ? copyOf(node) : { ...node });
  return { kind: 'directory', entries };
}
