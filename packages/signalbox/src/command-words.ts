/** Headings of the help, and what it says of the commands that have a program of their own (`programs/`). */
export const RUN = 'Run plans:';
export const ACT = 'Act on runs:';
export const DECIDE = 'Decide:';
export const LOOK = 'Look at runs:';
export const GUIDE = 'Guide agents:';
export const RETAIN = 'Keep and collect:';

export const RUN_PLAN = {
  syntax: 'run <plan>',
  summary: 'run a plan, a .tsx file, and follow it to its end',
  group: RUN,
} as const;

export const RESUME = {
  syntax: 'resume <run>',
  summary: 'go on with a run that was paused, stopped, failed or cut off',
  group: RUN,
} as const;

export const LIST = {
  syntax: 'ls',
  summary: 'list the runs of the data directory, newest first',
  group: LOOK,
} as const;

export const SHOW = {
  syntax: 'show <run>',
  summary: 'show a run or a guided session: its status and its tree',
  group: LOOK,
} as const;

export const MCP = {
  syntax: 'mcp',
  summary: 'give an agent guided workflows, or an operator’s program its tools, over MCP on standard streams',
  group: GUIDE,
} as const;
