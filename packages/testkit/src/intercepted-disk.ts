import type { Disk, OpenFile } from '@signalbox/journal';

/** Wraps a journal's disk: called for every operation that changes or syncs something. */
export type Interceptor = <T>(operation: string, path: string, run: () => T) => T;

export function interceptedDisk(disk: Disk, intercept: Interceptor): Disk {
  const openFile = (path: string, file: OpenFile): OpenFile => ({
    write: bytes => intercept('write', path, () => file.write(bytes)),
    sync: () => intercept('sync', path, () => file.sync()),
    truncate: length => intercept('truncate', path, () => file.truncate(length)),
    close: () => file.close(),
  });
  return {
    ...disk,
    makeDirectory: path => intercept('makeDirectory', path, () => disk.makeDirectory(path)),
    open: (path, mode) =>
      openFile(
        path,
        intercept('open', path, () => disk.open(path, mode)),
      ),
    rename: (from, to) => intercept('rename', to, () => disk.rename(from, to)),
    syncDirectory: path => intercept('syncDirectory', path, () => disk.syncDirectory(path)),
    syncFile: path => intercept('syncFile', path, () => disk.syncFile(path)),
  };
}

/** Where to stop: the operation's number from 0, and whether it is still performed. */
export interface StopPoint {
  readonly operation: number;
  readonly when: 'before' | 'after';
}

/** Calls `stop` at one point of a program's operations. In a child process, `stop` kills it; see `killThisProcess`. */
export function stoppingDisk(disk: Disk, point: StopPoint, stop: () => void): Disk {
  let count = 0;
  return interceptedDisk(disk, (_operation, _path, run) => {
    const isHere = count++ === point.operation;
    if (isHere && point.when === 'before') stop();
    const result = run();
    if (isHere && point.when === 'after') stop();
    return result;
  });
}

/** Ends this process at once: no handler runs, nothing is flushed. */
export function killThisProcess(): void {
  process.kill(process.pid, 'SIGKILL');
  // The signal may take a moment to arrive; nothing may happen until it does.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}

/** Records performed operations, in order: `sync <path>`. */
export function recordingDisk(disk: Disk): { readonly disk: Disk; readonly operations: readonly string[] } {
  const operations: string[] = [];
  const recorded = interceptedDisk(disk, (operation, path, run) => {
    operations.push(`${operation} ${path}`);
    return run();
  });
  return { disk: recorded, operations };
}
