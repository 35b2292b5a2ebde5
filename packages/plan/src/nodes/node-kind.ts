/**
 * Every kind of node. `plan` is the root, `branch` a way that an If or Switch can go, `component` a component that was
 * not called because its branch was not taken.
 */
export const nodeKinds = [
  'plan',
  'component',
  'branch',
  'if',
  'switch',
  'each',
  'while',
  'ralph',
  'phase',
  'step',
  'parallel',
  'agent',
  'claude',
  'codex',
  'gemini',
  'openai',
  'task',
  'human',
  'subplan',
  'effect',
  'stop',
  'end',
] as const;
export type NodeKind = (typeof nodeKinds)[number];

export type AgentKind = 'agent' | 'claude' | 'codex' | 'gemini' | 'openai';
export type LoopKind = 'while' | 'ralph';
/** Kinds that start work, and so the ones that can be observed. */
export type RunnableKind = AgentKind | 'task' | 'human' | 'subplan';

const agents: ReadonlySet<string> = new Set<AgentKind>(['agent', 'claude', 'codex', 'gemini', 'openai']);
const runnables: ReadonlySet<string> = new Set([...agents, 'task', 'human', 'subplan']);

export function isAgentKind(kind: NodeKind): kind is AgentKind {
  return agents.has(kind);
}

export function isRunnableKind(kind: NodeKind): kind is RunnableKind {
  return runnables.has(kind);
}

/** Kinds that only hold others, and say which of them run and when. */
const structural: ReadonlySet<string> = new Set<NodeKind>([
  ...(['plan', 'component', 'branch', 'if', 'switch', 'each'] as const),
  ...(['while', 'ralph', 'phase', 'step', 'parallel'] as const),
]);

/** Takes what was stored, which may be of a kind that is not known here. */
export function isStructuralKind(kind: string): boolean {
  return structural.has(kind);
}

export function isLoopKind(kind: NodeKind): kind is LoopKind {
  return kind === 'while' || kind === 'ralph';
}
