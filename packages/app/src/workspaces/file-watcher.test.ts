import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { manualMachine } from '../../test/support/run-builders.ts';
import { temporaryFolder } from '../../test/temporary-folder.ts';
import { createFileWatcher, isIgnored, type WatchDirectories } from './file-watcher.ts';

/** A watcher of directories that tells what the test says. */
function fakeDirectories() {
  let watching: { readonly directories: readonly string[]; readonly tell: (place: string) => void } | undefined;
  const watchDirectories: WatchDirectories = (directories, isWanted, onEvent) => {
    watching = { directories, tell: place => isWanted(place) && onEvent() };
    return () => {
      watching = undefined;
    };
  };
  return { watchDirectories, tell: (place: string) => watching?.tell(place), directories: () => watching?.directories };
}

describe('the watcher of files', () => {
  it('[A77] tells once when nothing more happens for a while, and of nothing that was not asked for', () => {
    const machine = manualMachine();
    const { watchDirectories, tell, directories } = fakeDirectories();
    const root = temporaryFolder();
    mkdirSync(path.join(root, 'src'));
    const watcher = createFileWatcher({ timers: machine.timers, debounceMs: 300, watchDirectories });
    let told = 0;
    const stop = watcher.watch(root, ['a.txt', 'src'], () => (told += 1));
    expect(directories()).toEqual([root, path.join(root, 'src')]);
    tell(path.join(root, 'other.txt'));
    machine.pass(1000);
    expect(told).toBe(0);
    tell(path.join(root, 'a.txt'));
    machine.pass(299);
    tell(path.join(root, 'src', 'new.ts'));
    machine.pass(299);
    expect(told).toBe(0);
    machine.pass(1);
    expect(told).toBe(1);
    tell(path.join(root, 'a.txt'));
    stop();
    machine.pass(1000);
    expect([told, directories()]).toEqual([1, undefined]);
  });

  it('[A77] finds what is not there yet, also when its directories come first', () => {
    const machine = manualMachine();
    const { watchDirectories, tell, directories } = fakeDirectories();
    const root = temporaryFolder();
    const watcher = createFileWatcher({ timers: machine.timers, watchDirectories });
    let told = 0;
    watcher.watch(root, ['a/b/c.txt'], () => (told += 1));
    expect(directories()).toEqual([root]);
    mkdirSync(path.join(root, 'a', 'b'), { recursive: true });
    tell(path.join(root, 'a'));
    machine.pass(300);
    expect([told, directories()]).toEqual([1, [path.join(root, 'a', 'b')]]);
    rmSync(path.join(root, 'a'), { recursive: true });
    tell(path.join(root, 'a', 'b', 'c.txt'));
    machine.pass(300);
    expect([told, directories()]).toEqual([2, [root]]);
  });

  it('[A77] ignores what tools fill and can make again', () => {
    const ignored = ['node_modules/a', 'x/node_modules/a/b', '.git/HEAD', 'dist/a.js', 'a/__pycache__/b', 'm.pyc'];
    expect(ignored.map(isIgnored)).toEqual(ignored.map(() => true));
    expect(['src/dist.ts', 'a.py', 'git/x', 'distance/x'].map(isIgnored)).toEqual([false, false, false, false]);
    const { watchDirectories, directories } = fakeDirectories();
    const watcher = createFileWatcher({ timers: manualMachine().timers, watchDirectories });
    watcher.watch(temporaryFolder(), ['node_modules/a/package.json'], () => {});
    expect(directories()).toBeUndefined();
  });

  it('[A77] hears of real changes', async () => {
    const root = temporaryFolder();
    writeFileSync(path.join(root, 'a.txt'), 'one');
    let hear: () => void = () => {};
    const timers = {
      after(_: number, run: () => void) {
        const timer = setImmediate(run);
        return () => clearImmediate(timer);
      },
    };
    const heard = () =>
      new Promise<void>(resolve => {
        hear = resolve;
      });
    const ready = heard();
    onTestFinished(createFileWatcher({ timers }).watch(root, ['a.txt', 'later/b.txt'], () => hear()));
    await ready;
    const changed = heard();
    writeFileSync(path.join(root, 'a.txt'), 'two');
    await changed;
    const made = heard();
    mkdirSync(path.join(root, 'later'));
    await made;
    const deeper = heard();
    writeFileSync(path.join(root, 'later', 'b.txt'), 'b');
    await deeper;
    const gone = heard();
    rmSync(path.join(root, 'a.txt'));
    await gone;
  });
});
