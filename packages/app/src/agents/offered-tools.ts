import type { AnyTool } from '@signalbox/state';
import { ARTIFACT_TOOL } from '../artifacts/artifact-tool.ts';
import type { AgentTools } from './agent-tools.ts';

/** What can be said of a tool without running it. */
export type ToolFacts = Pick<AnyTool, 'name' | 'description' | 'risk' | 'effects'>;

/** Every tool that the agent that comes along can be offered on this machine. */
export async function offeredTools(tools: Pick<AgentTools, 'atHand'>): Promise<readonly ToolFacts[]> {
  return [...(await tools.atHand()), ARTIFACT_TOOL];
}
