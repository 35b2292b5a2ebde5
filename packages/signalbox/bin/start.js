import { existsSync } from 'node:fs';
import { keepCompiledCode } from './compiled-code.js';

keepCompiledCode();
// A checkout runs its sources; the published package has none and runs what was built.
const source = new URL('../src/main.ts', import.meta.url);
const { main } = await import(existsSync(source) ? source.href : '../dist/main.js');
process.exitCode = await main(process.argv.slice(2));
