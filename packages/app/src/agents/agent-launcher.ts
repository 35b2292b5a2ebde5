import type { AgentLaunch, AgentProcess, TerminalLaunch } from '@signalbox/adapters/acp';
import { ok, type Result } from '@signalbox/model';
import type { TaskError } from '@signalbox/runs';
import {
  AGENT_LIMITS,
  type CommandEnd,
  type CommandSandbox,
  describeLimit,
  findProcess,
  type InteractiveProcess,
  LayerRefused,
  OtherLayerNeeded,
  openInGroup,
  type RunningCommand,
} from '@signalbox/state';
import { placesOf } from '../agent-register/installed-agents.ts';
import type { AgentHomes } from './agent-homes.ts';

/** Bytes of an agent's errors that are kept. */
const TAIL_BYTES = 8192;

/** Starts agents in the sandbox; without one (`undefined`, which must be configured) in a process group. */
export function startAgent(
  { installed, root, refused, layer, configHome, variables }: AgentLaunch,
  sandbox: CommandSandbox | undefined,
  { homes, closed }: { readonly homes: AgentHomes; readonly closed: readonly string[] },
): Result<AgentProcess, TaskError> {
  const command = installed.program;
  if (sandbox === undefined) {
    // Unconfined it would write into the directory itself, whatever layer is mounted for it.
    if (layer !== undefined) throw new LayerRefused('agents run unconfined here');
    const program = openInGroup(command, { cwd: root, env: variables });
    const leader = program.pid === undefined ? undefined : findProcess(program.pid);
    if (leader !== undefined) homes.noteGroup(configHome, leader);
    return ok(agentProcess(program, () => root));
  }
  const program = sandbox.open({
    ...{ command, root, refused, variables, home: configHome, limits: AGENT_LIMITS },
    readable: placesOf(installed, closed),
    ...(layer && { layer }),
  });
  return ok(agentProcess(program, () => (layer === undefined ? root : layer.view())));
}

/** Starts a command beside an agent, on the agent's layer if it has one. */
export function startBeside(
  command: Omit<TerminalLaunch, 'layer'>,
  layer: TerminalLaunch['layer'],
  sandbox: CommandSandbox,
): RunningCommand {
  if (layer === undefined) return sandbox.start(command);
  const beside = layer.beside();
  if (beside !== undefined) return sandbox.start({ ...command, layer: beside });
  const ended = Promise.resolve({ kind: 'not started' as const, reason: 'its layer cannot be entered (nsenter)' });
  return { onOutput() {}, kill() {}, ended };
}

function agentProcess(program: InteractiveProcess, view: AgentProcess['view']): AgentProcess {
  let tail = Buffer.alloc(0);
  program.stderr.on('data', (chunk: Buffer) => {
    tail = Buffer.concat([tail, chunk]).subarray(-TAIL_BYTES);
  });
  const ended = program.ended.then(end => {
    // Nothing was run: the call is made again, on another layer or without one.
    if (end.kind === 'no layer') throw new LayerRefused(end.reason);
    if (end.kind === 'other layer') throw new OtherLayerNeeded();
    return { reason: endWords(end) };
  });
  // Whoever waits for it is told; nobody has to wait.
  ended.catch(() => undefined);
  return {
    ...{ stdin: program.stdin, stdout: program.stdout, ended, view },
    stderrTail: () => tail.toString('utf8'),
    kill: program.stop,
  };
}

function endWords(end: Exclude<CommandEnd, { kind: 'no layer' | 'other layer' }>): string {
  switch (end.kind) {
    case 'exited':
      return `exited with ${end.exitCode}`;
    case 'killed':
      return `was killed by ${end.signal}`;
    case 'limit':
      return `was killed: ${describeLimit(end.limit, AGENT_LIMITS)}`;
    case 'not started':
      return `could not be started: ${end.reason}`;
  }
}
