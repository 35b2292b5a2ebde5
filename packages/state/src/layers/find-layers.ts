import { err, ok, type Result } from '@signalbox/model';
import { SYSTEM_DIRECTORIES, systemProgram } from '../programs/system-programs.ts';
import { type Layers, type NoLayerError, noLayer } from './layer.ts';
import { createOverlayLayers } from './overlay-layers.ts';

/**
 * The layer factory of this machine, with its own directory. Whether a directory can have a layer is known only when one is
 * mounted: it depends on the kernel, the user and the filesystem.
 */
export function findLayers(
  home: string,
  directories: readonly string[] = SYSTEM_DIRECTORIES,
): Result<Layers, NoLayerError> {
  if (process.platform !== 'linux') return err(noLayer('this machine', `there are none on ${process.platform}`));
  const [unshare, mount, nsenter] = ['unshare', 'mount', 'nsenter'].map(name => systemProgram(name, directories));
  if (unshare === undefined || mount === undefined) {
    return err(noLayer('this machine', 'unshare or mount is not installed'));
  }
  return ok(createOverlayLayers({ home, programs: { unshare, mount, nsenter } }));
}
