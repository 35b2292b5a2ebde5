import { createHmac } from 'node:crypto';
import * as fs from 'node:fs';
import path from 'node:path';
import { type AgentProcess, type AgentRow, createAcpRunner } from '@signalbox/adapters/acp';
import { createIdSource, ok, type RunId, type SessionId } from '@signalbox/model';
import { type AgentSession, type Assignment, nodeKey, taskIdOf } from '@signalbox/runs';
import {
  AGENT_LIMITS,
  createCheckpointStore,
  createExecutionState,
  createPathLocks,
  createResources,
  createSession,
  createToolRunner,
  detectSandbox,
  filesystem,
  findLayers,
  type InteractiveProcess,
  openHostContentStore,
  openHostFilesystem,
  openHostUndoLog,
  resource,
} from '@signalbox/state';
import { type EchoStep, echoAgentProgram, echoPrompt } from '@signalbox/testkit';

const echo: AgentRow = {
  ...{ id: 'echo', title: 'Echo', vendor: 'any', variables: [], settings: {}, homeFiles: {}, quirks: [] },
  start: { kind: 'program', file: process.execPath, args: [echoAgentProgram] },
  asking: { kind: 'settings' },
  unasked: [],
  reports: { usage: false, cost: false },
  files: 'own',
  isTried: true,
};

/** The echo agent as a host runs it: confined, on a layer of a directory. What it keeps is counted, and written nowhere. */
export async function confinedAgents(place: string) {
  const [root, data] = [path.join(place, 'root'), path.join(place, 'data')];
  for (const one of [root, `${data}/layers`, `${data}/homes`]) fs.mkdirSync(one, { recursive: true });
  const sandbox = await detectSandbox();
  if (!sandbox.ok) throw new Error(`${sandbox.error.message}. Agents are measured confined.`);
  const layers = findLayers(`${data}/layers`);
  if (!layers.ok) throw new Error(`${layers.error.message}. Agents are measured on layers.`);
  const clock = { now: () => Date.now() };
  const ids = createIdSource(clock, { bytes: count => crypto.getRandomValues(new Uint8Array(count)) });
  const undoLog = openHostUndoLog(`${data}/undo`);
  const store = openHostContentStore(`${data}/blobs`);
  const files = openHostFilesystem({ root, store, undoLog, dataDirectory: data, layers: layers.value });
  if (!files.ok) throw new Error(files.error.message);
  const state = createExecutionState({
    session: createSession({ id: ids.mint<SessionId>(), clock }),
    resources: createResources([resource(filesystem, files.value)]),
    ...{ clock, ids, checkpoints: createCheckpointStore() },
  });
  const locks = createPathLocks();
  const program = [process.execPath, echoAgentProgram];
  const runner = createAcpRunner({
    agentOf: async () =>
      ok({
        row: echo,
        installed: { program, version: '1', from: 'command' as const },
        variables: { PATH: '/usr/bin' },
      }),
    start: launch =>
      ok(
        processOf(
          sandbox.value.open({
            ...{ command: program, root: launch.root, refused: launch.refused, limits: AGENT_LIMITS },
            ...{ home: launch.configHome, variables: launch.variables },
            readable: [fs.realpathSync(process.execPath), path.dirname(echoAgentProgram)],
            ...(launch.layer && { layer: launch.layer }),
          }),
          () => launch.layer?.view(),
        ),
      ),
    async benchFor(_, turn) {
      const tools = createToolRunner({ state, tools: [turn], locks, evaluation: 'bench', undoLog });
      return ok({ runner: tools, tools: [turn], close: async () => {} });
    },
    async configHome() {
      const home = fs.mkdtempSync(`${data}/homes/`);
      const remove = () => fs.rmSync(home, { recursive: true });
      return { path: home, isUntouched: false, session: undefined, took() {}, keep: remove, remove };
    },
    ...{ clock, ids, mac: text => createHmac('sha256', 'bench').update(text).digest('hex') },
    timers: {
      after(ms, work) {
        const timer = setTimeout(work, ms);
        return () => clearTimeout(timer);
      },
    },
  });

  return {
    root,
    /** Runs one turn. `heard` is called with everything that the agent says. Returns how many commits it takes. */
    async turn(steps: readonly EchoStep[], heard: () => void = () => undefined): Promise<number> {
      let commits = 0;
      const outcome = await runner.run(
        assignmentOf(ids.mint<RunId>(), root, echoPrompt(steps)),
        sessionOf(heard, () => commits++),
      );
      if (outcome.kind !== 'done') throw new Error(JSON.stringify(outcome));
      return commits;
    },
  };
}

function assignmentOf(run: RunId, directory: string, prompt: string): Assignment {
  const node = nodeKey.parse('bench');
  return {
    ...{ run, node, task: taskIdOf(run, node, 0, 'bench'), iteration: 0, attempt: 1, vendor: 'any', prompt },
    ...{ permissions: 'gated', maxTurns: 9, resume: 'continue', directory, planDirectory: directory },
  };
}

/** A person who approves at once. */
function sessionOf(heard: () => void, commit: () => void): AgentSession {
  const approve = async () => {
    commit();
    return { resolutionType: 'approve', rationale: '', actionKind: 'review' } as const;
  };
  return {
    signal: new AbortController().signal,
    transcript: async () => [],
    async keep(messages) {
      commit();
      return messages;
    },
    stream: kind => {
      if (kind === 'token') heard();
    },
    admit: async () => ({ kind: 'go', release: () => undefined }),
    spend: async () => commit(),
    decide: approve,
    answered: approve,
  };
}

function processOf(agent: InteractiveProcess, view: AgentProcess['view']): AgentProcess {
  let errors = '';
  agent.stderr.setEncoding('utf8').on('data', text => {
    errors += text;
  });
  return {
    ...{ stdin: agent.stdin, stdout: agent.stdout, stderrTail: () => errors, kill: () => agent.stop(), view },
    ended: agent.ended.then(end => ({ reason: JSON.stringify(end) })),
  };
}
