import { executionTools } from './execution-tools.ts';
import { fleetTools } from './fleet-tools.ts';
import { nodeTools } from './node-tools.ts';
import { stateTools } from './state-tools.ts';
import type { OperatorTool } from './tool.ts';

/** All tools for operator clients. */
export const operatorTools: readonly OperatorTool[] = [...executionTools, ...nodeTools, ...stateTools, ...fleetTools];
