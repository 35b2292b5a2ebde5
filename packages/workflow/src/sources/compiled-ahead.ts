import { existsSync, readFileSync } from 'node:fs';
import { ok, type Result } from '@signalbox/model';
import type { CompiledWorkflow, WorkflowRejected } from '../compile/compile-workflow.ts';

/** What compiling came to, by what was compiled. */
export type CompiledByKey = ReadonlyMap<string, Result<CompiledWorkflow, WorkflowRejected>>;

/** Beside the built program: the bundled workflows, compiled when it was built. */
export const AHEAD_FILE = 'bundled-compiled.json';

let known: CompiledByKey | undefined;

/** Nothing in a checkout. What was compiled from other files, or with other routines, has another key and is not used. */
export function compiledAhead(): CompiledByKey {
  known ??= readAhead(new URL(AHEAD_FILE, import.meta.url));
  return known;
}

/** The text of the file. */
export function aheadText(compiled: CompiledByKey): string {
  return JSON.stringify([...compiled].flatMap(([key, made]) => (made.ok ? [[key, made.value]] : [])));
}

function readAhead(file: URL): CompiledByKey {
  if (!existsSync(file)) return new Map();
  const entries = JSON.parse(readFileSync(file, 'utf8')) as readonly (readonly [string, CompiledWorkflow])[];
  return new Map(entries.map(([key, compiled]) => [key, ok(compiled)]));
}
