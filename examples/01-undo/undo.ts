// A scripted agent works in a directory. Its third tool call breaks everything and fails; the directory is whole again.
// Then the person goes back to before the second call.
//
//   node examples/01-undo/undo.ts
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { createIdSource, type SessionId } from '@signalbox/model';
import {
  createCheckpointStore,
  createExecutionState,
  createPathLocks,
  createResources,
  createRunCommand,
  createSession,
  createToolRunner,
  editFile,
  filesystem,
  openHostContentStore,
  openHostFilesystem,
  openHostUndoLog,
  resource,
  rollbackToTool,
  writeFile,
} from '@signalbox/state';

const home = fs.mkdtempSync(path.join(os.tmpdir(), 'signalbox-undo-'));
const project = path.join(home, 'project');
const data = path.join(home, 'data');
fs.mkdirSync(path.join(project, 'empty'), { recursive: true });
fs.writeFileSync(path.join(project, 'greeting.txt'), 'Hello\n');
fs.writeFileSync(path.join(project, '.env'), 'SECRET=1\n', { mode: 0o600 });

// One state owns everything that changes: a session, and a filesystem on the project.
const clock = { now: () => Date.now() };
const rng = { bytes: (length: number) => randomBytes(length) };
const ids = createIdSource(clock, rng);
const files = openHostFilesystem({
  root: project,
  store: openHostContentStore(path.join(data, 'blobs')),
  undoLog: openHostUndoLog(path.join(data, 'undo')),
  dataDirectory: data,
});
assert(files.ok);
const state = createExecutionState({
  session: createSession({ id: ids.mint<SessionId>(), clock }),
  resources: createResources([resource(filesystem, files.value)]),
  clock,
  ids,
  checkpoints: createCheckpointStore(),
});

// The runner is the one way to run a tool.
const locks = createPathLocks();
// The commands below are ours: they need no sandbox.
const runCommand = createRunCommand({ unconfined: true });
const runner = createToolRunner({ state, tools: [writeFile, editFile, runCommand], locks, evaluation: 'example' });

const script = [
  { id: 'call_1', name: 'write_file', input: { path: 'notes/plan.md', content: '# Plan\n' } },
  { id: 'call_2', name: 'edit_file', input: { path: 'greeting.txt', find: 'Hello', replaceWith: 'Hello, world' } },
  {
    id: 'call_3',
    name: 'run_command',
    input: { command: ['sh', '-c', 'rm -rf .env empty notes; echo oops > greeting.txt; exit 1'] },
  },
];
for (const call of script) {
  const ran = await runner.execute(call);
  assert(ran.ok);
  const rollback = ran.value.status === 'failed' ? `, ${ran.value.rollback.kind}` : '';
  console.log(`${call.id} ${call.name}: ${ran.value.status}${rollback}`);
}
console.log(shown());
assert.equal(shown(), '.env (600)\nempty/\ngreeting.txt: Hello, world\nnotes/\nnotes/plan.md: # Plan');

const back = await rollbackToTool({ state, locks, toolCallId: 'call_2' });
assert(back.ok);
console.log(`back to before call_2`);
console.log(shown());
assert.equal(shown(), '.env (600)\nempty/\ngreeting.txt: Hello\nnotes/\nnotes/plan.md: # Plan');

fs.rmSync(home, { recursive: true });

/** The project as `find` sees it. */
function shown(): string {
  const paths = execFileSync('find', ['.', '-mindepth', '1'], { cwd: project, encoding: 'utf8' }).trim().split('\n');
  return paths
    .map(name => name.slice(2))
    .sort()
    .map(name => {
      const stat = fs.statSync(path.join(project, name));
      if (stat.isDirectory()) return `${name}/`;
      if (name === '.env') return `${name} (${(stat.mode & 0o777).toString(8)})`;
      return `${name}: ${fs.readFileSync(path.join(project, name), 'utf8').trim()}`;
    })
    .join('\n');
}
