import { err, ok, type Result } from '@signalbox/model';
import { SYSTEM_DIRECTORIES, systemProgram } from '../programs/system-programs.ts';
import { type Layers, type NoLayerError, noLayer } from './layer.ts';
import { createOverlayLayers } from './overlay-layers.ts';

/**
 * What makes layers on this machine, kept in a directory of their own. Whether a directory can have one is told when one is
 * mounted: it depends on the kernel, on who we are and on the filesystem.
 */
export function findLayers(
  home: string,
  directories: readonly string[] = SYSTEM_DIRECTORIES,
): Result<Layers, NoLayerError> {
  if (process.platform !== 'linux') return err(noLayer('this machine', `there are none on ${process.platform}`));
  const [unshare, mount] = ['unshare', 'mount'].map(name => systemProgram(name, directories));
  if (unshare === undefined || mount === undefined) {
    return err(noLayer('this machine', 'unshare or mount is not installed'));
  }
  return ok(createOverlayLayers({ home, programs: { unshare, mount } }));
}
