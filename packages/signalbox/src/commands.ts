import { CHILD_COMMAND, type CommandEntry } from './command.ts';

const RUN = 'Run plans:';
const ACT = 'Act on runs:';
const DECIDE = 'Decide:';
const LOOK = 'Look at runs:';
const GUIDE = 'Guide agents:';

/** Every command of the program, in the order of its help. */
export const commands: readonly CommandEntry[] = [
  {
    syntax: 'init [dir]',
    summary: 'write a first plan, and what your editor needs for it',
    group: RUN,
    load: async () => (await import('./init/init-command.ts')).defineInit,
  },
  {
    syntax: 'run <plan>',
    summary: 'run a plan, a .tsx file, and follow it to its end',
    group: RUN,
    load: async () => (await import('./run-command.ts')).defineRun,
  },
  {
    syntax: 'lint <plan...>',
    summary: 'look at plans without running them; say what to mend',
    group: RUN,
    load: async () => (await import('./lint/lint-command.ts')).defineLint,
  },
  {
    syntax: 'resume <run>',
    summary: 'go on with a run that was paused, stopped, failed or cut off',
    group: RUN,
    load: async () => (await import('./run-command.ts')).defineResume,
  },
  {
    syntax: 'serve',
    summary: 'own the data directory, drive runs, and show them in the console',
    group: RUN,
    load: async () => (await import('./serve-command.ts')).defineServe,
  },
  {
    syntax: 'pause <run>',
    summary: 'start nothing new in a run; what runs may finish',
    group: ACT,
    load: async () => (await import('./act-commands.ts')).definePause,
  },
  {
    syntax: 'stop <run>',
    summary: 'cancel what runs in a run, and stop it',
    group: ACT,
    load: async () => (await import('./act-commands.ts')).defineStop,
  },
  {
    syntax: 'terminate <run>',
    summary: 'end a run at once',
    group: ACT,
    load: async () => (await import('./act-commands.ts')).defineTerminate,
  },
  {
    syntax: 'retry <run> <node>',
    summary: 'run a node anew',
    group: ACT,
    load: async () => (await import('./act-commands.ts')).defineRetry,
  },
  {
    syntax: 'cancel <run> <node>',
    summary: 'cancel the work of a node',
    group: ACT,
    load: async () => (await import('./act-commands.ts')).defineCancel,
  },
  {
    syntax: 'signal <run> <name> [payload]',
    summary: 'tell a run that something happened',
    group: ACT,
    load: async () => (await import('./act-commands.ts')).defineSignal,
  },
  {
    syntax: 'decisions',
    summary: 'list what waits for a person',
    group: DECIDE,
    load: async () => (await import('./decision-commands.ts')).defineDecisions,
  },
  {
    syntax: 'approve <decision>',
    summary: 'answer a decision with yes',
    group: DECIDE,
    load: async () => (await import('./decision-commands.ts')).defineApprove,
  },
  {
    syntax: 'deny <decision>',
    summary: 'answer a decision with no',
    group: DECIDE,
    load: async () => (await import('./decision-commands.ts')).defineDeny,
  },
  {
    syntax: 'ls',
    summary: 'list the runs of the data directory, newest first',
    group: LOOK,
    load: async () => (await import('./list-command.ts')).defineList,
  },
  {
    syntax: 'show <run>',
    summary: 'show a run: its status and its tree',
    group: LOOK,
    load: async () => (await import('./show-command.ts')).defineShow,
  },
  {
    syntax: 'state <run>',
    summary: 'print the durable state of a run',
    group: LOOK,
    load: async () => (await import('./look-commands.ts')).defineState,
  },
  {
    syntax: 'frames <run>',
    summary: 'print the frames of a run: what made each, and what it changed',
    group: LOOK,
    load: async () => (await import('./look-commands.ts')).defineFrames,
  },
  {
    syntax: 'transitions <run>',
    summary: 'print every change of the state of a run, and why',
    group: LOOK,
    load: async () => (await import('./look-commands.ts')).defineTransitions,
  },
  {
    syntax: 'events <run>',
    summary: 'print the events of a run, in order',
    group: LOOK,
    load: async () => (await import('./look-commands.ts')).defineEvents,
  },
  {
    syntax: 'artifacts <run>',
    summary: 'list what a run kept for people to see',
    group: LOOK,
    load: async () => (await import('./artifacts/artifact-commands.ts')).defineArtifacts,
  },
  {
    syntax: 'artifact <id>',
    summary: 'print an artifact, or write it into a file',
    group: LOOK,
    load: async () => (await import('./artifacts/artifact-commands.ts')).defineArtifact,
  },
  {
    syntax: 'diff <run>',
    summary: 'show what a run changed in its workspace',
    group: LOOK,
    load: async () => (await import('./workspaces/diff-command.ts')).defineDiff,
  },
  {
    syntax: 'logs <run>',
    summary: 'print what happened in a run and what its agents said',
    group: LOOK,
    load: async () => (await import('./logs-command.ts')).defineLogs,
  },
  {
    syntax: 'verify <dir>',
    summary: 'check a journal offline; say the first thing that is wrong',
    group: 'Check what happened:',
    load: async () => (await import('./verify-command.ts')).defineVerify,
  },
  {
    syntax: 'doctor',
    summary: 'say whether Signalbox can be relied on here, and what to do if not',
    group: 'This machine:',
    load: async () => (await import('./doctor-command.ts')).defineDoctor,
  },
  {
    syntax: 'users',
    summary: 'give people tokens of their own, so that events name who did what',
    group: 'This machine:',
    load: async () => (await import('./users/users-command.ts')).defineUsers,
  },
  {
    syntax: 'demo',
    summary: 'watch a log survive a crash and be lied to, and a tool call be undone',
    group: 'See it work:',
    load: async () => (await import('./demo-command.ts')).defineDemo,
  },
  {
    syntax: 'mcp',
    summary: 'give an agent guided workflows over MCP, on standard input and output',
    group: GUIDE,
    load: async () => (await import('./mcp-command.ts')).defineMcp,
  },
  {
    syntax: 'workflow',
    summary: 'look at the workflows that agents are guided by',
    group: GUIDE,
    load: async () => (await import('./workflow/workflow-command.ts')).defineWorkflow,
  },
  {
    syntax: `${CHILD_COMMAND} <role> [args...]`,
    summary: 'play a part for another process of this program',
    load: async () => (await import('./child-command.ts')).defineChild,
  },
];
