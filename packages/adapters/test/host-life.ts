import * as fs from 'node:fs';
import { createIdSource, ok, type SessionId } from '@signalbox/model';
import type { AgentOutcome } from '@signalbox/runs';
import {
  createExecutionState,
  createPathLocks,
  createResources,
  createSession,
  createToolRunner,
  defineTool,
  editFile,
  filesystem,
  openCheckpointStore,
  openHostCheckpointLog,
  openHostContentStore,
  openHostFilesystem,
  openHostUndoLog,
  recoverPending,
  resource,
  succeed,
  writeFile,
} from '@signalbox/state';
import { fakeClock, seededRng } from '@signalbox/testkit';
import * as z from 'zod';
import { createModelSource, readModelEnvironment } from '../src/builtin/index.ts';
import { assignmentOf, createTestRunner } from './builders.ts';

export const SCRIPT = {
  version: 1,
  rules: [
    {
      when: { turn: 1 },
      calls: [
        { tool: 'write_file', input: { path: 'a.txt', content: 'A' } },
        { tool: 'add_line', input: { text: 'once' } },
      ],
    },
    {
      when: { turn: 2 },
      calls: [
        { tool: 'edit_file', input: { path: 'a.txt', find: 'A', replaceWith: 'AA' } },
        { tool: 'add_line', input: { text: 'twice' } },
      ],
    },
    { when: { turn: 3 }, text: 'Done.' },
  ],
};

/** A call that shows in the files how often it took effect. */
const addLine = defineTool({
  name: 'add_line',
  description: 'Adds a line to the log.',
  input: z.strictObject({ text: z.string() }),
  output: z.null(),
  risk: 'medium',
  effects: { kind: 'files' },
  async handler({ text }, { root }) {
    fs.appendFileSync(`${root}/log.txt`, `${text}\n`);
    return succeed(null);
  },
});

/** One life of a process that works on the task in a directory on disk, told before each durable operation. */
export async function live(directory: string, before: (operation: number) => void): Promise<AgentOutcome> {
  const clock = fakeClock();
  const ids = createIdSource(clock, seededRng(4));
  const undoLog = openHostUndoLog(`${directory}/undo`);
  const store = openHostContentStore(`${directory}/blobs`);
  const locks = createPathLocks();
  const open = (root: string) => openHostFilesystem({ root, store, undoLog });
  await recoverPending({ undoLog, locks, open });
  const files = open(`${directory}/root`);
  if (!files.ok) throw new Error(files.error.message);
  const resources = createResources([resource(filesystem, files.value)]);
  const opened = await openCheckpointStore({ log: openHostCheckpointLog(`${directory}/checkpoints.jsonl`), resources });
  if (!opened.ok) throw new Error(opened.error.message);
  const checkpoints = opened.value;
  const session = createSession({ id: ids.mint<SessionId>(), clock });
  const state = createExecutionState({ session, resources, clock, ids, checkpoints });
  const tools = [writeFile, editFile, addLine];
  const runner = createToolRunner({ state, tools, locks, evaluation: 'task', undoLog });
  const agent = createTestRunner({
    modelOf: createModelSource(readModelEnvironment({})),
    toolsFor: async () =>
      ok({
        runner,
        tools,
        fateOf: async call => (checkpoints.getPostSnapshot(call) === null ? 'undone' : 'committed'),
        close: async () => {},
      }),
  });
  const kept = `${directory}/kept.jsonl`;
  let operations = 0;
  const assignment = { model: 'scripted:script.json', planDirectory: directory, directory: `${directory}/root` };
  return agent.run(assignmentOf({ ...assignment, permissions: 'gated' }), {
    signal: new AbortController().signal,
    transcript: async () =>
      fs
        .readFileSync(kept, 'utf8')
        .split('\n')
        .filter(Boolean)
        .map(line => JSON.parse(line)),
    async keep(messages) {
      before(operations++);
      fs.appendFileSync(kept, messages.map(message => `${JSON.stringify(message)}\n`).join(''));
      return messages;
    },
    stream: () => {},
    admit: async () => ({ kind: 'go', release() {} }),
    async spend() {
      before(operations++);
    },
    async decide() {
      before(operations++);
      return { resolutionType: 'approve', rationale: '', actionKind: 'update' };
    },
    answered(question) {
      return this.decide(question);
    },
  });
}
