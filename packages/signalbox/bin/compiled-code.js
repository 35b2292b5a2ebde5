// An import of one of Node's modules reads all of its members, and some of them load much.
const { existsSync, mkdirSync, statSync } = process.getBuiltinModule('node:fs');
const { enableCompileCache } = process.getBuiltinModule('node:module');
const { homedir } = process.getBuiltinModule('node:os');
const path = process.getBuiltinModule('node:path');

/**
 * Lets Node keep the program as it compiled it, in the person's own cache, so that the next start is faster. Whoever can write
 * there can make this program run anything: a folder that is not ours alone is not used, and nothing depends on it. Returns the
 * folder.
 */
export function keepCompiledCode() {
  try {
    const [base, own] = cacheFolder(process.platform, process.env);
    const folder = path.join(base, own, 'code');
    for (const part of [base, path.join(base, own), folder]) if (!existsSync(part)) mkdirSync(part, { mode: 0o700 });
    const { uid, mode } = statSync(folder);
    const isOurs = process.getuid === undefined || (uid === process.getuid() && (mode & 0o022) === 0);
    if (!isOurs) return undefined;
    enableCompileCache(folder);
    return folder;
  } catch {
    // It starts as it did the first time.
    return undefined;
  }
}

/** Where the platform keeps what can be made again, and our folder there. */
function cacheFolder(platform, env) {
  if (platform === 'win32') {
    return [env.LOCALAPPDATA || path.join(homedir(), 'AppData', 'Local'), 'SignalboxCache'];
  }
  if (platform === 'darwin') return [path.join(homedir(), 'Library', 'Caches'), 'Signalbox'];
  const xdg = env.XDG_CACHE_HOME ?? '';
  return [path.isAbsolute(xdg) ? xdg : path.join(homedir(), '.cache'), 'signalbox'];
}
