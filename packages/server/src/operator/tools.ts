import { executionTools } from './execution-tools.ts';
import { nodeTools } from './node-tools.ts';
import { stateTools } from './state-tools.ts';
import type { OperatorTool } from './tool.ts';

/** Everything that a program of an operator can do. */
export const operatorTools: readonly OperatorTool[] = [...executionTools, ...nodeTools, ...stateTools];
