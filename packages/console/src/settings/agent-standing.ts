import type { WireAgent } from '@signalbox/model';
import type { Standing } from '../story/words.ts';

/** The state of an agent on this machine: one lamp, one or two words, and a sentence if there is something to know. */
export interface AgentStanding extends Standing {
  readonly sentence?: string;
  /** What to do about it. */
  readonly advice?: string;
}

export function agentStanding(agent: WireAgent): AgentStanding {
  const { job, problem, check, installed, missing } = agent;
  if (job !== undefined) return { signal: 'working', word: job.kind === 'add' ? 'Installing' : 'Checking' };
  if (problem !== undefined)
    return {
      signal: 'failed',
      word: problem.kind === 'add' ? 'Installation failed' : 'Check failed',
      ...{ sentence: problem.message, advice: problem.suggestion },
    };
  if (check?.status === 'fail')
    return { signal: 'failed', word: 'Broken', sentence: check.found, ...(check.advice && { advice: check.advice }) };
  if (installed === undefined)
    return { signal: 'idle', word: 'Not installed', ...(missing !== undefined && { sentence: missing }) };
  const word = placeWords[installed.from];
  const sentence = check?.found ?? missing;
  const said = { ...(sentence !== undefined && { sentence }), ...(check?.advice && { advice: check.advice }) };
  if (check?.status === 'warn' || missing !== undefined) return { signal: 'held', word: `${word}, no key`, ...said };
  return {
    signal: check === undefined ? 'next' : 'done',
    word: check === undefined ? word : `${word}, checked`,
    ...said,
  };
}

const placeWords = {
  'data directory': 'Installed',
  PATH: 'On the PATH',
  command: 'Command found',
} as const;

/** How an agent is made to ask a person, in words. */
export function agentAsks({ asking }: Pick<WireAgent, 'asking'>): string {
  switch (asking.kind) {
    case 'mode':
      return `mode “${asking.mode}”`;
    case 'option':
      return `option ${asking.option}: “${asking.value}”`;
    case 'settings':
      return 'our settings';
  }
}

/** What an agent reports about its spending. */
export function agentReports({ reports: { usage, cost } }: Pick<WireAgent, 'reports'>): string {
  if (usage && cost) return 'tokens and cost';
  if (usage) return 'tokens';
  return cost ? 'cost' : 'nothing';
}
