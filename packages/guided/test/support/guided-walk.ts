import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { hostDisk, nodeHasher, openContentStore, openJournal, sqliteLocks } from '@signalbox/journal';
import type { ErrorEnvelope, JsonObject, Result, SessionId } from '@signalbox/model';
import { type DomainEvent, sessionEventSchema } from '@signalbox/workflow';
import { onTestFinished } from 'vitest';
import type { GuidedTools, StepAnswer } from '../../src/index.ts';
import { filledIn, keysOf } from './agent-calls.ts';

/** A data directory of one test. */
export function dataDirectory(): string {
  const directory = mkdtempSync(path.join(tmpdir(), 'guided-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

export function value<T>(result: Result<T, ErrorEnvelope>): T {
  if (!result.ok) throw new Error(`${result.error.code}: ${result.error.message}`);
  return result.value;
}

export function errorOf<T>(result: Result<T, ErrorEnvelope>): ErrorEnvelope {
  if (result.ok) throw new Error('was expected to fail');
  return result.error;
}

export interface Walk {
  readonly start: StepAnswer;
  /** Every answer, the start's first. */
  readonly answers: readonly StepAnswer[];
  readonly last: StepAnswer;
}

/** Does what each answer says is next, until the end; every loop has one more turn. */
export async function walk(
  tools: GuidedTools,
  from: StepAnswer,
  options: { readonly context?: JsonObject; readonly stopAt?: string; readonly maxSteps?: number } = {},
): Promise<Walk> {
  const answers = [from];
  let last = from;
  for (let step = 0; !last.isComplete && last.pending?.stepId !== options.stopAt; step++) {
    if (step >= (options.maxSteps ?? 60)) throw new Error(`no end: ${keysOf(answers).join(' ')}`);
    last = value(await tools.continue(filledIn(last, step === 0 ? options.context : undefined)));
    if (last.kind === 'blocked')
      throw new Error(JSON.stringify([last.pending?.stepInstanceKey, last.blockers], null, 1));
    answers.push(last);
  }
  return { start: from, answers, last };
}

/** The events of a session as its journal has them. */
export function eventsOf(directory: string, sessionId: SessionId): readonly DomainEvent[] {
  const home = directory;
  const snapshots = openContentStore({ disk: hostDisk, hasher: nodeHasher, home, name: 'snapshots', writer: 'test' });
  const journal = openJournal({
    disk: hostDisk,
    locks: sqliteLocks,
    hasher: nodeHasher,
    schema: sessionEventSchema,
    snapshots,
    home,
    collection: 'sessions',
    sessionId,
  });
  return value(journal.read()).events();
}

/** Goes on to the first answer that is blocked. */
export async function walkUntilBlocked(tools: GuidedTools, from: StepAnswer): Promise<StepAnswer> {
  let last = from;
  for (let step = 0; step < 60 && last.kind === 'ok'; step++) last = value(await tools.continue(filledIn(last)));
  return last;
}

/** Everything below a directory, as text by path. */
export function filesUnder(directory: string): ReadonlyMap<string, string> {
  const names = readdirSync(directory, { recursive: true, withFileTypes: true }).filter(entry => entry.isFile());
  return new Map(
    names
      .map(entry => path.join(entry.parentPath, entry.name))
      // A lock file is SQLite's alone.
      .filter(file => !file.endsWith('.lock'))
      .sort()
      .map(file => [path.relative(directory, file), readFileSync(file, 'utf8')]),
  );
}

export function writeWorkflow(directory: string, name: string, workflow: JsonObject): void {
  writeFileSync(path.join(directory, name), JSON.stringify(workflow));
}
