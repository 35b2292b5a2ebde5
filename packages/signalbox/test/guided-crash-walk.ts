import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { type CallToolResult, Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { guidedSchemas, type StepAnswer } from '@signalbox/app/guided';
import type { Json } from '@signalbox/model';
import { entry } from './program.ts';

/** Thirty steps, three of them in a loop that is walked three times. */
export const longWorkflow = {
  id: 'project.long',
  name: 'A long way',
  description: 'Thirty steps with a loop.',
  version: '1.0.0',
  steps: [
    ...Array.from({ length: 14 }, (_, index) => plainStep(`first-${index}`)),
    {
      id: 'again',
      type: 'loop',
      title: 'Again and again',
      loop: {
        type: 'while',
        maxIterations: 5,
        conditionSource: { kind: 'artifact_contract', contractRef: 'wr.contracts.loop_control' },
      },
      body: [
        plainStep('look'),
        plainStep('weigh'),
        {
          id: 'enough',
          title: 'Enough?',
          prompt: 'Is it enough?',
          outputContract: { contractRef: 'wr.contracts.loop_control' },
        },
      ],
    },
    ...Array.from({ length: 13 }, (_, index) => plainStep(`last-${index}`)),
  ],
};

function plainStep(id: string) {
  return { id, title: `Do ${id}`, prompt: `Do ${id} for {{thing}}, and say what came of it.` };
}

/**
 * A process is killed while it starts, answers or rests, after this share of the time that such a thing usually takes; or
 * while it writes, once so many changes of its files were seen.
 */
export type Death =
  | { readonly during: 'start' | 'call' | 'rest'; readonly share: number }
  | { readonly during: 'write'; readonly changes: number };

/** How long things take, in turns of this process's event loop: a start, the first call of a server, and later ones. */
interface Turns {
  readonly start: number;
  readonly firstCall: number;
  readonly call: number;
}

export interface WalkOptions {
  /** Holds the workflow, and the data directory as `data`. */
  readonly cwd: string;
  /** The deaths that the server dies at each call, by the number of the call. */
  readonly deaths?: ReadonlyMap<number, readonly Death[]> | undefined;
  /** What is usual; where it is not known, it is counted. */
  readonly usual?: Turns | undefined;
}

export interface Walked {
  /** What each call was answered with, without its tokens: they are signed with the keys of their data directory. */
  readonly answers: readonly Json[];
  readonly turns: Turns;
  /** Calls that were under way when the server died, and how many of those were on disk already. */
  readonly cutOff: number;
  readonly cutOffAfterTheFact: number;
}

interface Call {
  readonly name: string;
  readonly arguments: Record<string, Json>;
}

/** Walks the long workflow as an agent does over stdio: whenever the server is gone it starts another and sends the same call again. */
export async function walkThroughDeaths({ cwd, deaths, usual }: WalkOptions): Promise<Walked> {
  const answers: Json[] = [];
  const counted: Record<keyof Turns, number[]> = { start: [], firstCall: [], call: [] };
  const isCounted = usual === undefined;
  const after = (share: number, of: keyof Turns): Moment => {
    const wanted = Math.floor(share * (usual?.[of] ?? 0));
    return turns => turns === wanted;
  };
  const momentOf = (death: Death | undefined): Moment | undefined => {
    if (death?.during === 'call') return after(death.share, isFirst ? 'firstCall' : 'call');
    return death?.during === 'write' ? changesSeen(path.join(cwd, 'data'), death.changes) : undefined;
  };
  let [cutOff, cutOffAfterTheFact] = [0, 0];
  let server: Server | undefined;
  let isFirst = true;
  let call: Call = {
    name: 'start_workflow',
    arguments: { workflowId: 'project.long', startKey: 'one', context: { thing: 'the test' } },
  };
  const acknowledged = () => manifestsOf(path.join(cwd, 'data'));

  for (let number = 0; ; number++) {
    const planned = [...(deaths?.get(number) ?? [])];
    let answer: CallToolResult | undefined;
    while (answer === undefined || planned.length > 0) {
      const death = planned.shift();
      const before = answer;
      if (server === undefined || death?.during === 'start') {
        await server?.end();
        server = undefined;
        const killAt = death?.during === 'start' ? after(death.share, 'start') : undefined;
        const starting = await startServer(cwd, killAt, isCounted);
        if (starting === undefined) continue;
        counted.start.push(starting.turns);
        server = starting;
        isFirst = true;
      }
      const known = acknowledged();
      const asked = await outcomeOf(
        server.client.callTool(call, { timeout: PATIENCE_MS }),
        momentOf(death),
        server.kill,
        isCounted,
      );
      if (asked.value === undefined) {
        cutOff += 1;
        if (acknowledged() !== known) cutOffAfterTheFact += 1;
      } else {
        counted[isFirst ? 'firstCall' : 'call'].push(asked.turns);
        isFirst = false;
        answer = asked.value;
        if (before !== undefined) mustBeSame(before, answer);
      }
      if (death !== undefined || asked.value === undefined) {
        await server.end();
        server = undefined;
      }
    }
    const step = stepOf(answer);
    answers.push(withoutTokens(step));
    if (step.isComplete) break;
    call = nextCall(step);
  }
  await server?.end();
  const turns = { start: middle(counted.start), firstCall: middle(counted.firstCall), call: middle(counted.call) };
  return { answers, turns, cutOff, cutOffAfterTheFact };
}

function manifestsOf(dataDirectory: string): string {
  const manifests = filesUnder(path.join(dataDirectory, 'sessions')).filter(file => file.endsWith('manifest.jsonl'));
  return manifests.map(file => readFileSync(file, 'utf8')).join('');
}

/** The files of every session, of what it refers to and of its workflow, by their path. */
export function journalOf(dataDirectory: string): ReadonlyMap<string, string> {
  const kept = ['sessions', 'snapshots', 'artifacts', 'workflows'].map(name => path.join(dataDirectory, name));
  const files = kept.flatMap(folder => filesUnder(folder));
  return new Map(files.map(file => [path.relative(dataDirectory, file), readFileSync(file, 'utf8')]));
}

function filesUnder(folder: string): readonly string[] {
  try {
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter(entry => entry.isFile() && !entry.name.endsWith('.lock') && !entry.name.endsWith('.tmp'))
      .map(found => path.join(found.parentPath, found.name))
      .sort();
  } catch {
    return [];
  }
}

/** A machine that is busy with something else is not a server that hangs. */
const PATIENCE_MS = 600_000;

interface Server {
  readonly client: Client;
  kill(): void;
  /** Kills it and waits until it is gone. */
  end(): Promise<void>;
}

async function startServer(
  cwd: string,
  killAt: Moment | undefined,
  isCounted: boolean,
): Promise<(Server & { readonly turns: number }) | undefined> {
  const client = new Client({ name: 'walker', version: '1' }, { versionNegotiation: { mode: 'legacy' } });
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [entry, 'mcp'],
    cwd,
    env: { PATH: process.env.PATH ?? '', HOME: cwd, SIGNALBOX_DATA_DIR: path.join(cwd, 'data') },
    stderr: 'inherit',
  });
  const closed = Promise.withResolvers<void>();
  client.onclose = () => closed.resolve();
  const kill = () => {
    if (transport.pid !== null && transport.pid !== undefined) process.kill(transport.pid, 'SIGKILL');
  };
  const started = await outcomeOf(
    client.connect(transport, { timeout: PATIENCE_MS }).then(() => true),
    killAt,
    kill,
    isCounted,
  );
  const end = async () => {
    try {
      kill();
    } catch (thrown) {
      // It has ended by itself, or was killed before.
      if ((thrown as NodeJS.ErrnoException).code !== 'ESRCH') throw thrown;
    }
    await closed.promise;
  };
  if (started.value === true) return { client, kill, end, turns: started.turns };
  if (killAt === undefined) throw new Error('the server did not start', { cause: started.thrown });
  return undefined;
}

/** Whether it is time to kill, asked at every turn of the event loop. */
type Moment = (turns: number) => boolean;

/** True once the files of sessions and what they refer to were seen to change so many times. */
function changesSeen(dataDirectory: string, changes: number): Moment {
  let seen = 0;
  let last = picture();
  function picture(): string {
    const files = ['sessions', 'snapshots'].flatMap(name => filesUnder(path.join(dataDirectory, name)));
    return `${files.length} ${manifestsOf(dataDirectory).length}`;
  }
  return () => {
    const now = picture();
    if (now !== last) seen += 1;
    last = now;
    return seen >= changes;
  };
}

/** What came of a promise, or nothing where it failed; and how many turns of the event loop it took, where they are counted. */
async function outcomeOf<T>(
  promise: Promise<T>,
  killAt: Moment | undefined,
  kill: () => void,
  isCounted: boolean,
): Promise<{ readonly value: T | undefined; readonly thrown: unknown; readonly turns: number }> {
  let settled: { readonly value: T | undefined; readonly thrown: unknown } | undefined;
  promise.then(
    value => {
      settled = { value, thrown: undefined };
    },
    thrown => {
      settled = { value: undefined, thrown };
    },
  );
  let isKilled = false;
  for (let turns = 0; ; turns++) {
    if (settled !== undefined) return { ...settled, turns };
    if (!isKilled && killAt?.(turns) === true) {
      kill();
      isKilled = true;
    }
    const isIdle = !isCounted && (killAt === undefined || isKilled);
    await (isIdle ? promise.catch(() => undefined) : new Promise(resolve => setImmediate(resolve)));
  }
}

function stepOf(answer: CallToolResult): StepAnswer {
  if (answer.isError) throw new Error(JSON.stringify(answer.content));
  const step = guidedSchemas.continue.answer.parse(answer.structuredContent);
  if (step.kind === 'blocked') throw new Error(JSON.stringify(step.blockers));
  return step;
}

function withoutTokens(step: StepAnswer): Json {
  const { stateToken: _, ackToken: __, checkpointToken: ___, nextCall: ____, ...rest } = step;
  return rest as Json;
}

function mustBeSame(before: CallToolResult, again: CallToolResult): void {
  const [one, other] = [before, again].map(answer => JSON.stringify([answer.content, answer.structuredContent]));
  if (one !== other) throw new Error(`the same call was answered differently:\n${one}\n${other}`);
}

/** Hands in the step; the loop is left in its third turn. */
function nextCall({ nextCall: next, pending }: StepAnswer): Call {
  const key = pending?.stepInstanceKey ?? '';
  const decision = /@2::/.test(key) ? 'stop' : 'continue';
  const artifacts = pending?.stepId === 'enough' ? [{ kind: 'wr.loop_control', loopId: 'again', decision }] : [];
  const output = { notesMarkdown: `Of ${key} this came: it is done, and was looked at twice.`, artifacts };
  return { name: next?.tool ?? '', arguments: { ...next?.arguments, output } as Record<string, Json> };
}

function middle(found: readonly number[]): number {
  return found.toSorted((a, b) => a - b)[Math.floor(found.length / 2)] ?? 1;
}
