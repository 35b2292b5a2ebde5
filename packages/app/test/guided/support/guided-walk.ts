import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { hostDisk, nodeHasher, openContentStore, openJournal, sqliteLocks } from '@signalbox/journal';
import type { ErrorEnvelope, Json, JsonObject, Result, SessionId } from '@signalbox/model';
import { seededRng } from '@signalbox/testkit';
import { type DomainEvent, sessionEventSchema } from '@signalbox/workflow';
import { onTestFinished } from 'vitest';
import {
  type GuidedTools,
  type GuidedToolsOptions,
  openGuidedTools,
  type StepAnswer,
} from '../../../src/guided/index.ts';
import { thisMachine } from '../../../src/machine.ts';

/** A data directory of one test. */
export function dataDirectory(): string {
  const directory = mkdtempSync(path.join(tmpdir(), 'guided-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

export function openTools(directory: string, options: Partial<GuidedToolsOptions> = {}): GuidedTools {
  return openGuidedTools({ dataDirectory: directory, directories: [], machine: machineOf(1), ...options });
}

export function value<T>(result: Result<T, ErrorEnvelope>): T {
  if (!result.ok) throw new Error(`${result.error.code}: ${result.error.message}`);
  return result.value;
}

export function errorOf<T>(result: Result<T, ErrorEnvelope>): ErrorEnvelope {
  if (result.ok) throw new Error('was expected to fail');
  return result.error;
}

/** Notes that keep every rule of the bundled workflows. */
export const NOTES = [
  'Evidence 1: the second run fails (src/a.ts:10). Evidence 2: the same without the cache (src/b.ts:20).',
  'H1: the cache. H2: the clock. H3: the test itself. Each would be refuted by a run without it.',
  'Part A: what speaks for it. Part B: what speaks against it. Source: the manual, opened and read.',
  'Source 1: the manual, primary. Source 2: the code, primary. Source 3: a measurement, secondary.',
  'Answer: it is the cache. Confidence: high, two sources. Open: nothing. Would change it: a run that fails without it.',
  'Area 1: src/a.ts. Finding 1: (major) src/a.ts:10 reads a value after it was freed. No findings elsewhere.',
  'AC1: it works. Slice 1: src/a.ts meets AC1. Tension 1: speed against size. Claim 1: it is fast.',
  'Candidate 1: one. Candidate 2: two. Candidate 3: three. Chosen: Candidate 2. Rejected: the others, as larger.',
  'Assumption 1: the clock is right, checked. Finding 1: confirmed by a run.',
  'What was done is written down at some length, so that whoever reads it later knows what was looked at and why.',
].join('\n');

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

/** The next call of an answer, with its templates filled in. */
export function filledIn(answer: StepAnswer, context?: JsonObject): Parameters<GuidedTools['continue']>[0] {
  const call = answer.nextCall?.arguments;
  if (call === undefined) throw new Error('there is no next call');
  const { artifacts = [] } = call.output as { readonly artifacts?: readonly Json[] };
  const turn = Number(/@(\d+)::/.exec(answer.pending?.stepInstanceKey ?? '')?.[1] ?? 0);
  const given = artifacts.map(artifact => fillArtifact(artifact as JsonObject, turn, answer));
  return {
    ...call,
    output: { notesMarkdown: `${answer.pending?.stepInstanceKey}\n${NOTES}`, artifacts: given },
    ...(context && { context }),
  } as Parameters<GuidedTools['continue']>[0];
}

function fillArtifact(artifact: JsonObject, turn: number, answer: StepAnswer): Json {
  if (artifact.kind === 'wr.loop_control') {
    const loopId = /([a-z0-9_-]+)@\d+::/.exec(answer.pending?.stepInstanceKey ?? '')?.[1] ?? '';
    return { kind: artifact.kind, loopId, decision: turn === 0 ? 'continue' : 'stop' };
  }
  if (artifact.kind !== 'wr.assessment') return artifact;
  const levels = Object.entries(artifact.dimensions as JsonObject);
  const best = levels.map(([id, text]) => [id, String(text).replace(/^<|>$/g, '').split(' | ').at(-1) ?? '']);
  return { ...artifact, dimensions: Object.fromEntries(best) };
}

export function keysOf(answers: readonly StepAnswer[]): readonly string[] {
  return answers.map(answer => answer.pending?.stepInstanceKey ?? 'complete');
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

/** Ids of this machine, and keys by a seed. */
export function machineOf(seed: number): GuidedToolsOptions['machine'] {
  return { ids: thisMachine().ids, rng: seededRng(seed) };
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
