import { readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import vm from 'node:vm';
import { crc32 } from 'node:zlib';

/**
 * Runs a program that was built as one script, from code that an earlier start kept compiled.
 *
 * 1. Kept code is V8's, which trusts it: the folder must be its owner's alone (`compiled-code.js`), and a damaged file does not count.
 * 2. It is kept once for each script and each Node, as far as the script was compiled by then: when `keep` is called, or soon.
 * 3. It holds code of the script and nothing else: neither what the script loads later nor any value.
 * 4. Nothing depends on it.
 */
export interface KeptScript<Exports> {
  readonly exports: Exports;
  /** Keeps the code as it is compiled by now, if none is kept. */
  keep(): void;
}

/** How many versions of one script are kept: programs of several versions may be installed. */
const MOST_KEPT = 4;
const CHECK_BYTES = 4;
/** After which a program has run most of what it runs. */
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
  // As they are now: the code of a plan may replace them later in its thread.
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
    // Code that V8 refused was compiled with other options of Node, which may alternate: it stays.
    if (isKept || place === undefined || folder === undefined) return;
    isKept = true;
    try {
      writeCode(place, createCode());
      forgetOld(folder, name);
    } catch {
      // It starts as it did the first time.
    }
  };
  // What is killed does not come to its end.
  if (!isKept) setTimeout(keep, SOON_MS).unref();
  return { exports: module.exports, keep };
}

/** V8 does not survive code that is damaged. */
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
