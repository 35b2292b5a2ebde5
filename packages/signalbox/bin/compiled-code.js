import { mkdirSync, statSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { homedir } from 'node:os';
import path from 'node:path';

/**
 * Lets Node keep the program as it compiled it, in the person's own cache, so that the next start is faster. Whoever can write
 * there can make this program run anything: a folder that is not ours alone is not used, and nothing depends on it.
 */
export function keepCompiledCode() {
  try {
    const folder = path.join(cacheFolder(process.platform, process.env), 'code');
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const { uid, mode } = statSync(folder);
    const isOurs = process.getuid === undefined || (uid === process.getuid() && (mode & 0o022) === 0);
    if (isOurs) enableCompileCache(folder);
  } catch {
    // It starts as it did the first time.
  }
}

function cacheFolder(platform, env) {
  if (platform === 'win32')
    return path.join(env.LOCALAPPDATA || path.join(homedir(), 'AppData', 'Local'), 'Signalbox', 'Cache');
  if (platform === 'darwin') return path.join(homedir(), 'Library', 'Caches', 'Signalbox');
  const xdg = env.XDG_CACHE_HOME ?? '';
  return path.join(path.isAbsolute(xdg) ? xdg : path.join(homedir(), '.cache'), 'signalbox');
}
