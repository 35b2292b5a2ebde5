import { hash } from 'node:crypto';
import { createRequire } from 'node:module';
import path from 'node:path';
import type esbuild from 'esbuild';
import type { Loader, TransformFailure, TransformOptions } from 'esbuild';
import { PlanError } from '../plan-error.ts';
import { unquoted } from './unquoted.ts';

/** Compiled modules, by everything that their code depends on. Forgotten ones are compiled again. */
export interface CompileCache {
  get(key: string): string | undefined;
  put(key: string, code: string): void;
}

/** Part of every key: another compiler makes other code. */
export const COMPILER = 'esbuild 0.28.2';

const loaders: Readonly<Record<string, Loader>> = { '.tsx': 'tsx', '.jsx': 'jsx', '.ts': 'ts', '.mts': 'ts' };

const options = {
  format: 'esm',
  target: 'node24',
  jsx: 'automatic',
  jsxDev: true,
  jsxImportSource: 'signalbox',
  sourcemap: 'inline',
  sourcesContent: false,
  logLevel: 'silent',
} as const satisfies TransformOptions;

export function needsCompiler(file: string): boolean {
  return loaders[path.extname(file)] !== undefined;
}

/** The code of an author's module, with its positions. Throws syntax errors with their place. */
export function compileModule(file: string, contents: Uint8Array, cache: CompileCache | undefined): string {
  const source = Buffer.from(contents).toString('utf8');
  const key = hash('sha256', JSON.stringify([COMPILER, options, file, source]));
  const known = cache?.get(key);
  if (known !== undefined) return known;
  const code = compiled(file, source);
  cache?.put(key, code);
  return code;
}

function compiled(file: string, source: string): string {
  try {
    const loader = loaders[path.extname(file)] ?? 'ts';
    return compiler().transformSync(source, { ...options, loader, sourcefile: file }).code;
  } catch (error) {
    const [first] = (error as Partial<TransformFailure>).errors ?? [];
    if (first === undefined) throw error;
    const at = first.location;
    throw new PlanError('plan/load-failed', unquoted(first.text), {
      ...(at === null ? {} : { source: { file, line: at.line, column: at.column + 1 } }),
    });
  }
}

type Compiler = Pick<typeof esbuild, 'transformSync'>;
let loaded: Compiler | undefined;

/** Loaded when the first module is compiled: it takes longer than the rest of a start. */
function compiler(): Compiler {
  loaded ??= loadCompiler();
  return loaded;
}

/**
 * Every module is compiled by a process of its own, which has ended by then. A shared one would be started in a thread, and if that thread
 * ends first, nobody waits for the process: it would stay in the process table as long as we run. For a few modules, a thread takes longer too.
 */
function loadCompiler(): Compiler {
  const given = process.env[USES_THREADS];
  process.env[USES_THREADS] = '0';
  try {
    return createRequire(import.meta.url)('esbuild') as Compiler;
  } finally {
    if (given === undefined) delete process.env[USES_THREADS];
    else process.env[USES_THREADS] = given;
  }
}

/** Read by the compiler when it is loaded. */
const USES_THREADS = 'ESBUILD_WORKER_THREADS';
