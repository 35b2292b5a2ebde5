import { CHILD_COMMAND, type CommandEntry } from './command.ts';

const RUN = 'Run plans:';
const ACT = 'Act on runs:';
const DECIDE = 'Decide:';
const LOOK = 'Look at runs:';
const GUIDE = 'Guide agents:';
const RETAIN = 'Keep and collect:';

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
    load: async () => (await import('./serving/serve-command.ts')).defineServe,
  },
  {
    syntax: 'desktop',
    summary: 'open the console in a window of its own',
    group: RUN,
    load: async () => (await import('./serving/desktop-command.ts')).defineDesktop,
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
    syntax: 'rerun <run> <node>',
    summary: 'do a node and what depends on it anew, in a new run',
    group: ACT,
    load: async () => (await import('./forks/fork-commands.ts')).defineRerun,
  },
  {
    syntax: 'fork <run>',
    summary: 'go on from an earlier moment of a run, in a new run',
    group: ACT,
    load: async () => (await import('./forks/fork-commands.ts')).defineFork,
  },
  {
    syntax: 'reset <run> <node>',
    summary: 'count the rounds of a loop anew',
    group: ACT,
    load: async () => (await import('./act-commands.ts')).defineReset,
  },
  {
    syntax: 'edit <run> <key> [value]',
    summary: 'change the durable state of a run, and say why',
    group: ACT,
    load: async () => (await import('./forks/edit-commands.ts')).defineEdit,
  },
  {
    syntax: 'undo <run> <call>',
    summary: 'undo what a tool call did to files',
    group: ACT,
    load: async () => (await import('./forks/undo-commands.ts')).defineUndo,
  },
  {
    syntax: 'rollback <run>',
    summary: 'take files, state and transcript back to a tool call',
    group: ACT,
    load: async () => (await import('./forks/rollback-command.ts')).defineRollback,
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
    syntax: 'decisions [decision]',
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
    syntax: 'answer <session> <gap>',
    summary: 'answer what a guided session waits for',
    group: DECIDE,
    load: async () => (await import('./guided/answer-command.ts')).defineAnswer,
  },
  {
    syntax: 'ls',
    summary: 'list the runs of the data directory, newest first',
    group: LOOK,
    load: async () => (await import('./list-command.ts')).defineList,
  },
  {
    syntax: 'show <run>',
    summary: 'show a run or a guided session: its status and its tree',
    group: LOOK,
    load: async () => (await import('./show-command.ts')).defineShow,
  },
  {
    syntax: 'why <run> [node]',
    summary: 'say why a run or a node waits, failed, was skipped or ran again',
    group: LOOK,
    load: async () => (await import('./why/why-command.ts')).defineWhy,
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
    syntax: 'checkpoints <run>',
    summary: 'list the tool calls of a run, and what can be undone',
    group: LOOK,
    load: async () => (await import('./forks/undo-commands.ts')).defineCheckpoints,
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
    load: async () => (await import('./logs/logs-command.ts')).defineLogs,
  },
  {
    syntax: 'export <id>',
    summary: 'write a run or a guided session into one file, to go on with elsewhere',
    group: 'Check what happened:',
    load: async () => (await import('./bundle-commands.ts')).defineExport,
  },
  {
    syntax: 'import <file>',
    summary: 'take in what was exported, whole or not at all',
    group: 'Check what happened:',
    load: async () => (await import('./bundle-commands.ts')).defineImport,
  },
  {
    syntax: 'replay <run>',
    summary: 'show a run frame by frame, or make its frames again and compare',
    group: 'Check what happened:',
    load: async () => (await import('./bundles/replay-command.ts')).defineReplay,
  },
  {
    syntax: 'verify <dir>',
    summary: 'check a journal offline; say the first thing that is wrong',
    group: 'Check what happened:',
    load: async () => (await import('./verify-command.ts')).defineVerify,
  },
  {
    syntax: 'keep <run>',
    summary: 'keep a run, however old it gets',
    group: RETAIN,
    load: async () => (await import('./retention/retention-commands.ts')).defineKeep,
  },
  {
    syntax: 'unkeep <run>',
    summary: 'let a run go when its time comes',
    group: RETAIN,
    load: async () => (await import('./retention/retention-commands.ts')).defineUnkeep,
  },
  {
    syntax: 'gc',
    summary: 'take away what is past its time; say what that freed',
    group: RETAIN,
    load: async () => (await import('./retention/retention-commands.ts')).defineGc,
  },
  {
    syntax: 'recoveries',
    summary: 'list tool calls that were cut off, and what was done about them',
    group: LOOK,
    load: async () => (await import('./recoveries/recoveries-command.ts')).defineRecoveries,
  },
  {
    syntax: 'doctor',
    summary: 'say whether Signalbox can be relied on here, and what to do if not',
    group: 'This machine:',
    load: async () => (await import('./doctor-command.ts')).defineDoctor,
  },
  {
    syntax: 'link',
    summary: 'print a link that opens the console once',
    group: 'This machine:',
    load: async () => (await import('./serving/link-command.ts')).defineLink,
  },
  {
    syntax: 'sandbox [dir]',
    summary: 'show what commands of agents may do in a directory, and accept what its project allows',
    group: 'This machine:',
    load: async () => (await import('./sandbox/sandbox-command.ts')).defineSandbox,
  },
  {
    syntax: 'users',
    summary: 'give people and agents tokens of their own, each with a role',
    group: 'This machine:',
    load: async () => (await import('./users/users-command.ts')).defineUsers,
  },
  {
    syntax: 'demo',
    summary: 'open the console with runs, decisions and a guided session to look at',
    group: 'See it work:',
    load: async () => (await import('./demo/demo-command.ts')).defineDemo,
  },
  {
    syntax: 'mcp',
    summary: 'give an agent guided workflows, or an operator’s program its tools, over MCP on standard streams',
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
    syntax: 'sessions',
    summary: 'list the guided sessions, and keep one whatever its age',
    group: GUIDE,
    load: async () => (await import('./guided/sessions-command.ts')).defineSessions,
  },
  {
    syntax: 'keys',
    summary: 'look after the keys that the tokens of agents are signed with',
    group: GUIDE,
    load: async () => (await import('./guided/keys-command.ts')).defineKeys,
  },
  {
    syntax: `${CHILD_COMMAND} <role> [args...]`,
    summary: 'play a part for another process of this program',
    load: async () => (await import('./child-command.ts')).defineChild,
  },
];
