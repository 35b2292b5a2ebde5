import { nodeKindFacts, type PlanNodeKind, planNodeKinds } from '@signalbox/model';

export type NodeKind = PlanNodeKind;
type Role = (typeof planNodeKinds)[NodeKind]['role'];
type OfRole<Some extends Role> = {
  [Kind in NodeKind]: (typeof planNodeKinds)[Kind]['role'] extends Some ? Kind : never;
}[NodeKind];

export type AgentKind = OfRole<'agent'>;
export type LoopKind = OfRole<'loop'>;
/** Kinds that start work, and so can be observed. */
export type RunnableKind = OfRole<'agent' | 'work'>;

const agents = ofRoles('agent');
const runnables = ofRoles('agent', 'work');
const loops = ofRoles('loop');
const endings = ofRoles('ending');

function ofRoles(...roles: readonly Role[]): ReadonlySet<string> {
  return new Set(Object.keys(planNodeKinds).filter(kind => roles.includes(planNodeKinds[kind as NodeKind].role)));
}

export function isAgentKind(kind: NodeKind): kind is AgentKind {
  return agents.has(kind);
}

export function isRunnableKind(kind: NodeKind): kind is RunnableKind {
  return runnables.has(kind);
}

export function isLoopKind(kind: NodeKind): kind is LoopKind {
  return loops.has(kind);
}

export function isEndingKind(kind: NodeKind): kind is OfRole<'ending'> {
  return endings.has(kind);
}

/** Whether nodes of the kind only hold others. Accepts stored kinds, which may be unknown here. */
export function isStructuralKind(kind: string): boolean {
  const role = nodeKindFacts(kind)?.role;
  return role === 'structure' || role === 'loop';
}
