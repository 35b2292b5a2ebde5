import * as fs from 'node:fs';
import path from 'node:path';
import { type ErrorEnvelope, err, type Result } from '@signalbox/model';
import { detectSandbox, probeLayers } from '@signalbox/state';
import { type Check, passed, warned } from './check.ts';

/** Whether commands run on layers in a directory; really tried, in our own place and over the directory. */
export async function checkLayers(
  scratch: string,
  directory: string,
  detect: typeof detectSandbox = detectSandbox,
): Promise<Check> {
  const sandbox = await detect();
  const probed = sandbox.ok ? await probeLayers(sandbox.value, scratch, directory) : sandbox;
  if (probed.ok) return passed('layers', `commands in ${directory} run on a layer`);
  return warned(
    'layers',
    probed.error.message,
    'Commands run in the directory itself. Changes of a failed command are undone from a snapshot, and files that this discards are kept: signalbox undo RUN CALL --kept.',
  );
}

/** Why agents cannot work on layers of a directory. Really tried, in the data directory and over the directory. */
export async function layersFor(dataDirectory: string, directory: string): Promise<Result<void, ErrorEnvelope>> {
  const sandbox = await detectSandbox();
  if (!sandbox.ok) return err(sandbox.error);
  const scratch = fs.mkdtempSync(path.join(dataDirectory, '.layers-'));
  try {
    return await probeLayers(sandbox.value, scratch, directory);
  } finally {
    fs.rmSync(scratch, { recursive: true, force: true });
  }
}
