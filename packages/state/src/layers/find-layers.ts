import { err, ok, type Result } from '@signalbox/model';
import { SYSTEM_DIRECTORIES, systemProgram } from '../programs/system-programs.ts';
import { type Layers, type NoLayerError, noLayer } from './layer.ts';
import { createCopiesOnly } from './layer-copies.ts';
import { createOverlayLayers } from './overlay-layers.ts';

/** The layers of this machine; where there are none, copies stand in for them where a program can work on one. */
export function layersOrCopies(home: string, find: typeof findLayers = findLayers): Layers {
  const found = find(home);
  return found.ok ? found.value : createCopiesOnly(home, found.error.message);
}

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
