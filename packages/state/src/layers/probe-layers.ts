import * as fs from 'node:fs';
import { err, ok, type Result } from '@signalbox/model';
import { nodeHostFiles } from '../filesystem/host-files.ts';
import { removeTree } from '../filesystem/remove-tree.ts';
import { reasonOf } from '../filesystem/system-reason.ts';
import type { CommandSandbox } from '../sandbox/command-sandbox.ts';
import { findLayers } from './find-layers.ts';
import { type Layers, type NoLayerError, noLayer } from './layer.ts';
import { readChanges } from './read-changes.ts';

/**
 * Tests whether commands run on layers here: everything that a test command writes must be in its layer, and nowhere else.
 * `directory` is our own directory for the test; `root` is another directory, which is mounted over and not written to.
 */
export async function probeLayers(
  sandbox: CommandSandbox,
  directory: string,
  root: string,
): Promise<Result<void, NoLayerError>> {
  const found = findLayers(`${directory}/layers`);
  if (!found.ok) return found;
  const own = `${fs.realpathSync(directory)}/root`;
  try {
    fs.mkdirSync(own);
    for (const name of ['changed', 'removed']) fs.writeFileSync(`${own}/${name}`, name);
    const proved = await tried(sandbox, found.value, own, 'echo new > changed; rm removed', [
      'remove removed',
      'put changed',
    ]);
    return proved.ok ? await tried(sandbox, found.value, fs.realpathSync(root), ':', []) : proved;
  } catch (cause) {
    return err(noLayer(directory, reasonOf(cause)));
  } finally {
    removeTree(nodeHostFiles, `${directory}/layers`);
    removeTree(nodeHostFiles, own);
  }
}

async function tried(
  sandbox: CommandSandbox,
  layers: Layers,
  root: string,
  script: string,
  expected: readonly string[],
): Promise<Result<void, NoLayerError>> {
  const opened = await layers.open(root);
  if (!opened.ok) return opened;
  const layer = opened.value;
  try {
    const command = ['/bin/sh', '-c', script];
    const running = sandbox.start({ command, root, refused: [], env: {}, layer: layer.entry });
    running.onOutput(() => {});
    const ended = await running.ended;
    const view = layer.view();
    if ('reason' in ended) return err(noLayer(root, ended.reason));
    if (ended.kind !== 'exited' || ended.exitCode !== 0 || view === undefined)
      return err(noLayer(root, 'a command failed on it'));
    const { changes, conflicts } = readChanges(layer, view);
    const seen = changes.map(({ op, path }) => `${op} ${path}`);
    const isExact = conflicts.length === 0 && seen.join() === expected.join();
    return isExact ? ok(undefined) : err(noLayer(root, 'not all writes of a command are on it'));
  } finally {
    layer.drop();
  }
}
