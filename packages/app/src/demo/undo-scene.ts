import { lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createIdSource, type SessionId } from '@signalbox/model';
import {
  createCheckpointStore,
  createExecutionState,
  createResources,
  createRunCommand,
  createSession,
  createToolRunner,
  filesystem,
  openHostContentStore,
  openHostFilesystem,
  openHostUndoLog,
  resource,
  rollbackToTool,
  writeFile,
} from '@signalbox/state';
import { fakeClock, seededRng } from '@signalbox/testkit';
import { openHostPathLocks } from '../path-locks/host-path-locks.ts';
import type { Scene } from './scene.ts';

/** A scripted agent works in its own project beside the journal. */
export const undoScene = (home: string): Scene<unknown> => ({
  title: 'A tool breaks a working tree and fails',
  async play(log) {
    const project = path.join(home, 'project');
    makeProject(project);
    const agent = openAgent(project, home);
    if (agent === undefined) return void log.claim('the project is usable', false);
    const untouched = pictureOf(project);

    const wrote = await agent.call('call-1', writeFile.name, { path: 'src/greet.js', content: 'export {};\n' });
    if (!log.claim('an agent writes src/greet.js: succeeded', wrote === 'succeeded')) return;
    const before = pictureOf(project);

    log.tell(`it runs this command, unconfined because it is the demo's own: ${BREAKS_EVERYTHING}`);
    const broke = await agent.call('call-2', runCommand.name, { command: ['sh', '-c', BREAKS_EVERYTHING] });
    log.claim('the call failed and its changes were undone', broke === 'failed, restored');
    log.claim(
      'every file, mode and empty directory is as before, including the ignored .env',
      pictureOf(project) === before,
    );

    const isBack = await agent.backToBefore('call-1');
    log.claim('going back to before the first call removes only its file', isBack);
    log.claim('the tree is as at the start', pictureOf(project) === untouched);
  },
});

/** The demo trusts its own commands, and must run without a sandbox. */
const runCommand = createRunCommand({ unconfined: true });

const BREAKS_EVERYTHING = 'rm -rf .env cache src/greet.js; echo oops > README.md; chmod 777 .; exit 1';

function makeProject(project: string): void {
  mkdirSync(path.join(project, 'cache', 'empty'), { recursive: true });
  mkdirSync(path.join(project, 'src'));
  writeFileSync(path.join(project, 'README.md'), '# A project\n');
  writeFileSync(path.join(project, '.gitignore'), '.env\ncache/\n');
  writeFileSync(path.join(project, '.env'), 'SECRET=1\n', { mode: 0o600 });
}

function openAgent(project: string, home: string) {
  const clock = fakeClock();
  const ids = createIdSource(clock, seededRng(1));
  const files = openHostFilesystem({
    root: project,
    store: openHostContentStore(path.join(home, 'blobs')),
    undoLog: openHostUndoLog(path.join(home, 'undo')),
  });
  if (!files.ok) return undefined;
  const state = createExecutionState({
    session: createSession({ id: ids.mint<SessionId>(), clock }),
    resources: createResources([resource(filesystem, files.value)]),
    clock,
    ids,
    checkpoints: createCheckpointStore(),
  });
  const locks = openHostPathLocks(path.join(home, 'locks'));
  const runner = createToolRunner({ state, tools: [writeFile, runCommand], locks, evaluation: 'demo' });
  return {
    /** How the call ended, and whether it was undone. */
    async call(id: string, name: string, input: unknown): Promise<string> {
      const ran = await runner.execute({ id, name, input });
      if (!ran.ok) return ran.error.message;
      return ran.value.status === 'failed' ? `failed, ${ran.value.rollback.kind}` : ran.value.status;
    },
    backToBefore: async (toolCallId: string) => (await rollbackToTool({ state, locks, toolCallId })).ok,
  };
}

/** Everything visible of a tree: names, modes, contents. */
function pictureOf(directory: string, name = '.'): string {
  const full = path.join(directory, name);
  const entry = lstatSync(full);
  const line = `${name} ${entry.mode.toString(8)}`;
  if (!entry.isDirectory()) return `${line} ${readFileSync(full, 'base64')}`;
  const inside = readdirSync(full).sort();
  return [line, ...inside.map(child => pictureOf(directory, path.join(name, child)))].join('\n');
}
