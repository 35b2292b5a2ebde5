import { existsSync, readFileSync } from 'node:fs';
import { ok, type Result } from '@signalbox/model';
import type { CompiledWorkflow, WorkflowRejected } from '../compile/compile-workflow.ts';

/** Compilation results, by input. */
export type CompiledByKey = ReadonlyMap<string, Result<CompiledWorkflow, WorkflowRejected>>;

/** Next to the built program: the bundled workflows, compiled at build time. */
export const AHEAD_FILE = 'bundled-compiled.json';

let known: CompiledByKey | undefined;

/** Empty in a checkout. Results for other files or routines have other keys and are not used. */
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
