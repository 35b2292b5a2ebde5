import { keepCompiledCode } from './compiled-code.js';

// Not even the folder of the cache would be usable if the umask took rights from its owner.
process.umask(process.umask(0o077) & 0o077);
const folder = keepCompiledCode();
const rest = process.argv.slice(2);
// A checkout runs its sources; the published package has none and runs what was built.
const source = new URL('../src/main.ts', import.meta.url);
if (process.getBuiltinModule('node:fs').existsSync(source)) {
  const { main } = await import(source.href);
  process.exitCode = await main(rest);
} else {
  const { main } = await import('../dist/main.js');
  process.exitCode = await main(rest, folder);
}
