import { usageError } from '@signalbox/app';
import type { AgentRegister } from '@signalbox/app/agents';
import type { ErrorEnvelope, Result } from '@signalbox/app/host';

/** One agent at the task. */
export interface DoAttempt {
  /** Its node in the plan: the agent's name, numbered if it is named more than once. */
  readonly id: string;
  readonly agent: string;
}

export interface AskedAgents {
  /** The value of `--with`. */
  readonly with?: string | undefined;
  readonly apply: string;
  readonly check?: string | undefined;
}

/** The agents that are asked for, or why they cannot be used. */
export function attemptsFor(register: AgentRegister, asked: AskedAgents): Result<readonly DoAttempt[], ErrorEnvelope> {
  const { with: given, apply, check } = asked;
  const names = given === undefined ? firstInstalled(register) : given.split(',').map(name => name.trim());
  if (names.length === 0) {
    const suggestion =
      'Install one with "signalbox agents add NAME", or use the built-in agent: --with builtin --apply auto.';
    return refused('No agent is installed.', suggestion);
  }
  if (names.includes(''))
    return refused(`--with names agents, separated by commas; got "${given}".`, 'List agents: signalbox agents ls');
  const isCompared = names.length > 1;
  for (const name of new Set(names)) {
    const choice = register.choose({ vendor: 'any', plugin: name });
    if (choice.kind === 'missing') return refused(choice.message, 'List agents: signalbox agents ls');
    if (choice.kind !== 'builtin' || (!isCompared && apply === 'auto' && check === undefined)) continue;
    const what = isCompared ? 'comparing agents' : check === undefined ? `--apply ${apply}` : '--check';
    return refused(
      `The built-in agent writes files at once; ${what} needs an installed agent.`,
      'Name installed agents, or use the built-in agent alone with --apply auto.',
    );
  }
  if (isCompared && apply === 'auto' && check === undefined)
    return refused(
      '--apply auto cannot tell which of several agents to keep.',
      'Give a check that decides, such as --check "npm test", or use --apply ask.',
    );
  return { ok: true, value: numbered(names) };
}

function firstInstalled(register: AgentRegister): readonly string[] {
  const rows = register.rows();
  const known = rows.ok ? rows.value : [];
  const first = known.find(row => (register.installed(row)?.from ?? 'PATH') !== 'PATH')?.id;
  return first === undefined ? [] : [first];
}

/** Ids that the plan needs for something else. */
const TAKEN = ['keep', 'none'];

function numbered(names: readonly string[]): readonly DoAttempt[] {
  const taken = new Set(TAKEN);
  return names.map(agent => {
    const isAlone = names.filter(name => name === agent).length === 1;
    let id = agent;
    for (let number = 1; taken.has(id) || (!isAlone && id === agent); number++) id = `${agent}-${number}`;
    taken.add(id);
    return { id, agent };
  });
}

function refused(message: string, suggestion: string): { readonly ok: false; readonly error: ErrorEnvelope } {
  return { ok: false, error: usageError(message, suggestion) };
}
