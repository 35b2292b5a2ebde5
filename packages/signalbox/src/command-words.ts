/** Help headings, and the summaries of commands that are built as separate programs (`programs/`). */
export const RUN = 'Run plans:';
export const ACT = 'Act on runs:';
export const DECIDE = 'Decide:';
export const LOOK = 'Look at runs:';
export const FLEET = 'Direct agents:';
export const GUIDE = 'Guide agents:';
export const RETAIN = 'Keep and collect:';

export const RUN_PLAN = {
  syntax: 'run <plan>',
  summary: 'run a plan (a .tsx file) and follow it to its end',
  group: RUN,
} as const;

export const RESUME = {
  syntax: 'resume [run]',
  summary: 'continue a run that was paused, stopped, failed or cut off',
  group: RUN,
} as const;

export const LIST = {
  syntax: 'ls',
  summary: 'list runs, newest first',
  group: LOOK,
} as const;

export const SHOW = {
  syntax: 'show [run]',
  summary: 'show the status and tree of a run or guided session',
  group: LOOK,
} as const;

export const MCP = {
  syntax: 'mcp',
  summary: 'serve guided workflows to an agent, or tools to an operator’s client, over MCP on stdio',
  group: GUIDE,
} as const;
