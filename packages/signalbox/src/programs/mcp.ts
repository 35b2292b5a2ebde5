import { MCP } from '../command-words.ts';
import { mcpCommand } from '../mcp-command.ts';
import { programOf } from './own-program.ts';

/** The agent's side only; the whole program has the operator's. */
const operatorSide = () => Promise.reject(new Error("this program does not include the operator's side"));

export const main = programOf({ ...MCP, load: async () => mcpCommand(operatorSide) });
