import type { Json, JsonObject } from '@signalbox/model';
import { isObject } from './json-object.ts';

/** An agent of another vendor. */
export interface AskingAgent {
  readonly title: string;
  readonly version: string | undefined;
}

/** One of the agent's own answers to its request, or one of ours. */
export interface PermissionOption {
  /** The agent's id of it; undefined for one that only we offer. */
  readonly id: string | undefined;
  readonly label: string;
  readonly kind: PermissionKind;
  readonly does: string;
}

const permissionKinds = ['allow_once', 'allow_always', 'reject_once', 'reject_always'] as const;
type PermissionKind = (typeof permissionKinds)[number];

/** The agent that a proposal names: at the top for a tool call, in the context of a question. */
export function askingAgent(proposal: JsonObject): AskingAgent | undefined {
  const { agent } = isObject(proposal.agent)
    ? proposal
    : isObject(proposal.context)
      ? proposal.context
      : ({} as JsonObject);
  if (!isObject(agent) || typeof agent.title !== 'string') return undefined;
  return { title: agent.title, version: typeof agent.version === 'string' ? agent.version : undefined };
}

/** The agent's own options with what each does. An agent without an option to allow always is offered ours. */
export function permissionOptions(proposal: JsonObject, agent: AskingAgent): readonly PermissionOption[] {
  const { options } = proposal;
  const given: Json[] = Array.isArray(options) ? [...options] : [];
  const own = given.flatMap(option => {
    if (!isObject(option) || typeof option.id !== 'string') return [];
    const kind = permissionKinds.find(each => each === option.kind);
    if (kind === undefined) return [];
    const label = typeof option.label === 'string' ? option.label : option.id;
    return [{ id: option.id, label, kind, does: doesOf(kind, proposal, agent) }];
  });
  const hasKind = (kind: PermissionKind) => own.some(option => option.kind === kind);
  if (!hasKind('allow_once') || hasKind('allow_always')) return own;
  const always = 'allow_always';
  return [...own, { id: undefined, label: 'Always allow', kind: always, does: doesOf(always, proposal, agent) }];
}

function doesOf(kind: PermissionKind, proposal: JsonObject, { title }: AskingAgent): string {
  switch (kind) {
    case 'allow_once':
      return 'Runs this call. The next one is asked about again.';
    case 'allow_always':
      return `Runs this call, and ${exactTool(proposal)} of ${title} in this session without asking. Nothing else.`;
    case 'reject_once':
      return `Does not run this call. ${title} continues without it.`;
    case 'reject_always':
      return `Does not run this call. ${title} does not ask for it again in this session.`;
  }
}

/** Later calls of the same tool. Without a name, only calls of the same kind and title are the same tool. */
function exactTool({ tool, kind, title }: JsonObject): string {
  if (typeof tool === 'string' && tool !== kind) return `later calls of the exact tool “${tool}”`;
  return `later calls with exactly the title “${typeof title === 'string' ? title : String(kind)}”`;
}
