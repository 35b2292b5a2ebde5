import type { AnyTool } from './tool.ts';

/** Which tools an agent is offered, by name. */
interface ToolNames {
  readonly allow?: readonly string[] | undefined;
  readonly deny?: readonly string[] | undefined;
}

/** Whether an agent is offered a tool of this name at all. */
export function isAllowed(tool: string, policy: ToolNames | undefined): boolean {
  return policy?.deny?.includes(tool) !== true && (policy?.allow === undefined || policy.allow.includes(tool));
}

/** Whether a person must approve a call: the strictest of these wins. */
export function needsApproval(tool: Pick<AnyTool, 'risk' | 'effects'>, permissions: 'gated' | 'skip'): boolean {
  const effects = tool.effects.kind;
  return tool.risk === 'high' || effects === 'external' || (permissions === 'gated' && effects === 'files');
}
