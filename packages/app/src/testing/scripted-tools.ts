import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { issuesText, type Json, json, thrownMessage } from '@signalbox/model';
import { type OwnTool, runOwnTool } from '@signalbox/plan';
import type { Assignment, OwnToolAnswer, OwnToolOperation, TaskId } from '@signalbox/runs';

/** What a tool answers in a test: a value, or a function that returns one or throws. The author says the type of its input. */
export type ToolScript =
  | Json
  | ((input: never, call: { readonly node: string; readonly directory: string }) => unknown);

/** A call that the script of an agent made. */
export interface ScriptedCall {
  readonly node: string;
  readonly tool: string;
  readonly input: Json;
  readonly output?: Json;
  /** Why it failed, as a model would read it. */
  readonly error?: string;
}

export interface ScriptedTools {
  /** The tools that the plan brings along for a task. */
  offer(task: TaskId, own: ReadonlyMap<string, OwnTool> | undefined): void;
  /** Calls a tool for an agent. Rejects with what a model would read. */
  call(assignment: Assignment, signal: AbortSignal, tool: string, input: Json): Promise<Json>;
  readonly calls: readonly ScriptedCall[];
}

/**
 * The tools of scripted agents. The test says what a tool answers; a tool of the plan that it says nothing about runs its own code, on the
 * directory of the run.
 */
export function scriptedTools(scripts: Readonly<Record<string, ToolScript>>): ScriptedTools {
  const offered = new Map<string, ReadonlyMap<string, OwnTool>>();
  const calls: ScriptedCall[] = [];

  async function answer(assignment: Assignment, signal: AbortSignal, name: string, input: Json): Promise<Json> {
    const { node, task, directory } = assignment;
    const own = offered.get(task)?.get(name);
    if (!isGiven(assignment, name))
      throw new Error(`Agent ${node} is not given the tool "${name}". ${givenTo(assignment)}`);
    const script = Object.hasOwn(scripts, name) ? scripts[name] : undefined;
    if (script === undefined && own === undefined)
      throw new Error(
        `The test does not say what "${name}" answers: testPlan(plan, { tools: { ${JSON.stringify(name)}: … } }).`,
      );
    if (own === undefined) return plainOf(name, await answerOf(script, input, assignment));
    const changes = createChanges(directory);
    const played: OwnTool =
      script === undefined ? own : { ...own, run: (given: never) => answerOf(script, given, assignment) };
    const call = { id: `${task}/${calls.length}`, input, signal, outside: new Set<string>() };
    const reply = await runOwnTool(
      played,
      call,
      async operation => changes.operate(own, operation),
      value => value,
    );
    if (reply.ok) return reply.value;
    changes.undo();
    throw new Error(reply.message);
  }

  return {
    offer(task, own) {
      if (own !== undefined) offered.set(task, own);
    },
    async call(assignment, signal, tool, input) {
      const { node } = assignment;
      try {
        const output = await answer(assignment, signal, tool, input);
        calls.push({ node, tool, input, output });
        return output;
      } catch (thrown) {
        calls.push({ node, tool, input, error: thrownMessage(thrown) });
        throw thrown;
      }
    },
    calls,
  };
}

async function answerOf(
  script: ToolScript | undefined,
  input: Json,
  { node, directory }: Assignment,
): Promise<unknown> {
  return typeof script === 'function' ? await script(input as never, { node, directory }) : script;
}

function plainOf(name: string, output: unknown): Json {
  const plain = json.safeParse(output === undefined ? null : output);
  if (plain.success) return plain.data;
  throw new Error(
    `The scripted answer of "${name}" is not plain data: ${issuesText(plain.error.issues, 'the output')}`,
  );
}

/** As the plan says: tools that it names, of servers by their prefix. Without a list an agent has every built-in tool. */
function isGiven({ tools, mcp = [] }: Assignment, name: string): boolean {
  const isOfServer = mcp.some(({ prefix, allow }) =>
    allow.some(one => name === (prefix === undefined ? one : `${prefix}_${one}`)),
  );
  if (isOfServer) return true;
  return tools?.deny?.includes(name) !== true && tools?.allow?.includes(name) !== false;
}

function givenTo({ tools }: Assignment): string {
  const { allow = [] } = tools ?? {};
  return allow.length === 0 ? 'It has no tools.' : `Its tools are ${allow.join(', ')}.`;
}

/** The files of one call, which are as before if it fails. */
function createChanges(root: string) {
  const undone: (() => void)[] = [];
  const placeOf = (name: string) => {
    const place = path.resolve(root, name);
    const relative = path.relative(root, place);
    if (relative.startsWith('..') || path.isAbsolute(relative)) throw new Error(`${name} is outside of the directory`);
    return place;
  };
  const keep = (place: string) => {
    const stat = statSync(place, { throwIfNoEntry: false });
    const before = stat?.isFile() === true ? readFileSync(place) : undefined;
    undone.push(() => {
      if (before !== undefined) writeFileSync(place, before);
      else if (stat === undefined) rmSync(place, { recursive: true, force: true });
    });
  };
  const makeFolder = (folder: string) => {
    const first = mkdirSync(folder, { recursive: true });
    if (first !== undefined) undone.push(() => rmSync(first, { recursive: true, force: true }));
  };
  const done = (operation: OwnToolOperation): unknown => {
    switch (operation.kind) {
      case 'read':
        return new Uint8Array(readFileSync(placeOf(operation.path)));
      case 'stat': {
        const stat = statSync(placeOf(operation.path), { throwIfNoEntry: false });
        return stat === undefined ? null : { kind: stat.isDirectory() ? 'directory' : 'file', size: stat.size };
      }
      case 'list':
        return readdirSync(placeOf(operation.path), { withFileTypes: true }).map(entry => ({
          name: entry.name,
          kind: entry.isDirectory() ? 'directory' : 'file',
        }));
      case 'write': {
        const place = placeOf(operation.path);
        makeFolder(path.dirname(place));
        keep(place);
        return writeFileSync(place, operation.content);
      }
      case 'remove': {
        const place = placeOf(operation.path);
        keep(place);
        return rmSync(place);
      }
      case 'rename': {
        const [from, to] = [placeOf(operation.from), placeOf(operation.to)];
        keep(to);
        renameSync(from, to);
        return void undone.push(() => renameSync(to, from));
      }
      case 'mkdir':
        return makeFolder(placeOf(operation.path));
      case 'command':
        throw new Error('a test runs no commands of tools: say what the tool answers with the option tools');
    }
  };
  const changes = new Set<OwnToolOperation['kind']>(['write', 'remove', 'rename', 'mkdir']);
  return {
    operate({ name, definition }: OwnTool, operation: OwnToolOperation): OwnToolAnswer {
      if (changes.has(operation.kind) && !definition.effects.includes('files'))
        return { ok: false, message: `${name} is not declared to change files` };
      try {
        return { ok: true, value: done(operation) ?? null };
      } catch (thrown) {
        return { ok: false, message: thrownMessage(thrown) };
      }
    },
    undo() {
      for (const step of undone.toReversed()) step();
    },
  };
}
