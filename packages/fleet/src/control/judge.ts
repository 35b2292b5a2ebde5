import type { ControlMode, EscalationProtocol } from '@signalbox/model';
import { matchesGlob } from '../decisions/tool-risk.ts';
import { modeProtocols } from './mode-protocols.ts';
import { type EscalationFacts, predicateHolds } from './predicate.ts';
import { type ToolCallFacts, toolWords } from './tool-words.ts';

/** Whether a person is asked, and why. */
export interface Verdict {
  readonly asks: boolean;
  /** A rule names the call: nothing but a person approves it (R40). */
  readonly isAlwaysAsked: boolean;
  readonly reason: string;
}

export interface Case {
  readonly call: ToolCallFacts;
  readonly facts: EscalationFacts;
  /** False: no classification knows the tool, and the agent said nothing of its risk. */
  readonly isClassified: boolean;
  /** A person approved this tool for the rest of the agent's session. */
  readonly isAllowed: boolean;
  /** The agent's own rules. */
  readonly own: EscalationProtocol;
}

/**
 * Judges a tool call by the project's mode and the agent's own rules. The strictest of them wins: what one escalates no other can allow
 * (R21), and a call that nobody knows is for a person.
 */
export function judge(mode: ControlMode, { call, facts, isClassified, isAllowed, own }: Case): Verdict {
  if (isAllowed) return allows(`A person approved ${call.toolName} for the rest of this session.`);
  const protocols = [modeProtocols[mode], own];
  const words = toolWords(call);
  const always = protocols.flatMap(({ alwaysEscalate }) => alwaysEscalate).find(entry => isNamed(entry, call, words));
  if (always !== undefined) return { asks: true, isAlwaysAsked: true, reason: `Always escalated: ${always}` };
  if (!isClassified) return asks(`${call.toolName} has no risk classification.`);
  if (words.size === 0) return asks(`Nobody knows what ${call.toolName} does.`);
  const rule = protocols
    .flatMap(({ escalateWhen }) => escalateWhen)
    .find(({ predicate }) => predicateHolds(predicate, facts));
  if (rule !== undefined) return asks(rule.description);
  const free = modeProtocols[mode].neverEscalate;
  if (mode === 'orchestrator' && ![...words].every(word => free.includes(word))) {
    return asks('In orchestrator mode a person approves everything but reading and searching.');
  }
  return allows(`No rule of ${mode} mode escalates ${call.toolName}.`);
}

/** True if a rule of the project or the agent says that only a person approves the call. */
export function isAlwaysAsked(mode: ControlMode, call: ToolCallFacts, own: EscalationProtocol): boolean {
  const words = toolWords(call);
  return [modeProtocols[mode], own].some(({ alwaysEscalate }) =>
    alwaysEscalate.some(entry => isNamed(entry, call, words)),
  );
}

/** An entry names a call by a word, by a pattern of tool names, or as a phrase (`modify production`) with a verb for what the call does. */
function isNamed(entry: string, { toolName }: ToolCallFacts, words: ReadonlySet<string>): boolean {
  if (words.has(entry.toLowerCase()) || matchesGlob(entry, toolName)) return true;
  if (!/\s/.test(entry.trim())) return false;
  return [...toolWords({ toolName: entry, toolArgs: {} })].some(word => words.has(word));
}

function asks(reason: string): Verdict {
  return { asks: true, isAlwaysAsked: false, reason };
}

function allows(reason: string): Verdict {
  return { asks: false, isAlwaysAsked: false, reason };
}
