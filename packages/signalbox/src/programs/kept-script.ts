import { readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import vm from 'node:vm';
import { crc32 } from 'node:zlib';

/**
 * Runs a program that was built as one script, using compiled code cached by an earlier start.
 *
 * 1. V8 trusts cached code: the folder must be private to its owner (`compiled-code.js`), and a damaged file is ignored.
 * 2. Code is cached once per script and Node version, as far as the script is compiled when `keep` is called, or shortly after the start.
 * 3. It contains only the script's code: neither modules that the script loads later nor any value.
 * 4. Nothing depends on the cache.
 */
export interface KeptScript<Exports> {
  readonly exports: Exports;
  /** Caches the code compiled so far, unless a cache exists. */
  keep(): void;
}

/** Cached versions per script: several versions of the program may be installed. */
const MOST_KEPT = 4;
const CHECK_BYTES = 4;
/** By then a program has run most of its code. */
const SOON_MS = 1000;

export function runScript<Exports>(url: URL, folder: string | undefined): KeptScript<Exports> {
  const file = fileURLToPath(url);
  const source = readFileSync(file);
  const name = path.basename(file, '.script.js');
  const place =
    folder &&
    path.join(folder, `${name}-${process.version}-${process.arch}-${source.length}-${crc32(source).toString(16)}`);
  const cachedData = place === undefined ? undefined : keptCode(place);
  const script = new vm.Script(source.toString('latin1'), {
    filename: file,
    ...(cachedData && { cachedData }),
  });
  // Captured now: a plan's code may replace them later in its thread.
  const createCode = script.createCachedData.bind(script);
  const module = { exports: {} as Exports };
  const meta = {
    url: url.href,
    filename: file,
    dirname: path.dirname(file),
    import: (specifier: string) => import(specifier),
  };
  script.runInThisContext()(module.exports, createRequire(url), module, meta);
  let isKept = folder === undefined || cachedData !== undefined;
  const keep = () => {
    // Code that V8 rejected was compiled with other Node options, which may alternate: keep it.
    if (isKept || place === undefined || folder === undefined) return;
    isKept = true;
    try {
      writeCode(place, createCode());
      forgetOld(folder, name);
    } catch {
      // It starts without cached code.
    }
  };
  // A killed process never reaches its end.
  if (!isKept) setTimeout(keep, SOON_MS).unref();
  return { exports: module.exports, keep };
}

/** V8 crashes on damaged code. */
function keptCode(place: string): Buffer | undefined {
  try {
    const kept = readFileSync(place);
    const code = kept.subarray(CHECK_BYTES);
    return kept.readUInt32LE() === crc32(code) ? code : undefined;
  } catch {
    return undefined;
  }
}

function writeCode(place: string, code: Buffer): void {
  const check = Buffer.alloc(CHECK_BYTES);
  check.writeUInt32LE(crc32(code));
  const temporary = `${place}.${process.pid}-${process.hrtime.bigint()}`;
  writeFileSync(temporary, Buffer.concat([check, code]), { mode: 0o600 });
  renameSync(temporary, place);
}

function forgetOld(folder: string, name: string): void {
  const kept = readdirSync(folder)
    .filter(file => file.startsWith(`${name}-v`))
    .map(file => path.join(folder, file))
    .map(file => ({ file, at: statSync(file).mtimeMs }))
    .sort((a, b) => b.at - a.at);
  for (const { file } of kept.slice(MOST_KEPT)) rmSync(file, { force: true });
}
