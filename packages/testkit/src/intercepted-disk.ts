import type { Disk, OpenFile } from '@signalbox/journal';

/** Stands between the journal and its disk: called for every operation that changes or syncs something. */
export type Interceptor = <T>(operation: string, run: () => T) => T;

export function interceptedDisk(disk: Disk, intercept: Interceptor): Disk {
  const openFile = (file: OpenFile): OpenFile => ({
    write: bytes => intercept('write', () => file.write(bytes)),
    sync: () => intercept('sync', () => file.sync()),
    truncate: length => intercept('truncate', () => file.truncate(length)),
    close: () => file.close(),
  });
  return {
    ...disk,
    makeDirectory: path => intercept('makeDirectory', () => disk.makeDirectory(path)),
    open: (path, mode) => openFile(intercept('open', () => disk.open(path, mode))),
    rename: (from, to) => intercept('rename', () => disk.rename(from, to)),
    syncDirectory: path => intercept('syncDirectory', () => disk.syncDirectory(path)),
    syncFile: path => intercept('syncFile', () => disk.syncFile(path)),
  };
}

/** Where to stop: the operation's number from 0, and whether it is still done. */
export interface StopPoint {
  readonly operation: number;
  readonly when: 'before' | 'after';
}

/** Calls `stop` at one point of a program's operations. In a child process, `stop` kills it; see `killThisProcess`. */
export function stoppingDisk(disk: Disk, point: StopPoint, stop: () => void): Disk {
  let count = 0;
  return interceptedDisk(disk, (_operation, run) => {
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

/** The names of the operations that `work` does, in order. */
export function recordingDisk(disk: Disk): { readonly disk: Disk; readonly operations: readonly string[] } {
  const operations: string[] = [];
  const recorded = interceptedDisk(disk, (operation, run) => {
    operations.push(operation);
    return run();
  });
  return { disk: recorded, operations };
}
