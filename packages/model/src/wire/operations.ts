import type * as z from 'zod';
import type { answers } from './answers.ts';
import type { inputs, queries } from './inputs.ts';
import type { UserRole } from './users.ts';

/**
 * Every operation of the server, one row each. The server's routes, the client's methods, the OpenAPI description, the access table and
 * the pages in `docs/reference` follow from this table. It names schemas without creating any.
 *
 * O1  The key is the name of the operation, of its handler in the server and of its method in the client.
 * O2  A name that is not in `inputs` or `answers` does not compile, nor does a row without a matching handler in the server.
 */
export interface Operation {
  /** The method and the path, with its parameters as the router writes them. `ALL` is any method, `WS` a WebSocket. */
  readonly route: `${'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'ALL' | 'WS'} /${string}`;
  readonly needs: Needed;
  readonly summary: string;
  /** The query of a `GET`, otherwise the body. Without it neither is read. */
  readonly input?: keyof typeof inputs;
  /** Input fields that the client takes as separate arguments, in this order. */
  readonly args?: readonly string[];
  /** The effect of the `Idempotency-Key` header; operations without it ignore the header. */
  readonly key?: string;
  /** Without it, the operation always refuses. `bytes` are passed through from the handler. */
  readonly answer?: keyof typeof answers | 'bytes';
  /** 200 by default. */
  readonly status?: 200 | 201;
}

/** A row whose input matches its method, and whose `args` are fields of that input. */
type Row =
  | {
      readonly [Name in keyof typeof inputs]: Operation & {
        readonly route: `${Name extends keyof typeof queries ? 'GET' : 'POST' | 'PUT' | 'PATCH' | 'DELETE'} /${string}`;
        readonly input: Name;
        readonly args?: readonly (keyof z.output<(typeof inputs)[Name]>)[];
      };
    }[keyof typeof inputs]
  | (Operation & { readonly input?: never; readonly args?: never });

/** The required role. `no token` is for operations that come before a token. */
export type Needed = UserRole | 'no token';

// biome-ignore format: a table is read by its rows
export const operations = {
  login: { route: 'POST /api/login', needs: 'no token', input: 'TakeLogin', answer: 'Login', summary: 'Exchange the code of a one-time link for a token' },
  newLink: { route: 'POST /api/links', needs: 'owner', input: 'Empty', answer: 'OneTimeLink', status: 201, summary: 'Create a link that opens the console once' },

  health: { route: 'GET /api/health', needs: 'viewer', answer: 'Health', summary: 'Check that the server is up, and how many runs it drives' },
  openapi: { route: 'GET /api/openapi.json', needs: 'viewer', answer: 'bytes', summary: 'This description' },
  metrics: { route: 'GET /metrics', needs: 'viewer', answer: 'bytes', summary: 'Metrics for Prometheus' },

  start: { route: 'POST /api/runs', needs: 'operator', input: 'Start', answer: 'RunSummary', status: 201, key: 'The same key answers the same run.', summary: 'Start a run of a plan' },
  runs: { route: 'GET /api/runs', needs: 'viewer', input: 'RunsQuery', answer: 'RunList', summary: 'Runs, newest first' },
  run: { route: 'GET /api/runs/:run', needs: 'viewer', answer: 'Run', summary: 'The current state of a run' },
  pause: { route: 'POST /api/runs/:run/pause', needs: 'operator', input: 'Empty', answer: 'RunSummary', summary: 'Pause a run: no new work starts' },
  resume: { route: 'POST /api/runs/:run/resume', needs: 'operator', input: 'Resume', answer: 'RunSummary', summary: 'Resume a run' },
  stop: { route: 'POST /api/runs/:run/stop', needs: 'operator', input: 'Stop', args: ['reason'], answer: 'RunSummary', summary: 'Cancel running work, and stop the run' },
  terminate: { route: 'POST /api/runs/:run/terminate', needs: 'operator', input: 'Stop', args: ['reason'], answer: 'RunSummary', summary: 'End a run at once' },
  signal: { route: 'POST /api/runs/:run/signals', needs: 'operator', input: 'Signal', args: ['name', 'payload'], answer: 'RunSummary', summary: 'Send a signal to a run' },
  retry: { route: 'POST /api/runs/:run/nodes/:node/retry', needs: 'operator', input: 'Retry', answer: 'RunSummary', summary: 'Retry a node, with a different policy if given' },
  cancel: { route: 'POST /api/runs/:run/nodes/:node/cancel', needs: 'operator', input: 'Empty', answer: 'RunSummary', summary: 'Cancel the work of a node' },
  reset: { route: 'POST /api/runs/:run/nodes/:node/reset', needs: 'operator', input: 'Empty', answer: 'RunSummary', summary: 'Reset the iteration counter of a loop' },
  rerun: { route: 'POST /api/runs/:run/nodes/:node/rerun', needs: 'operator', input: 'Rerun', answer: 'ForkedRun', status: 201, summary: 'Start a new run from where a node began' },
  fork: { route: 'POST /api/runs/:run/fork', needs: 'operator', input: 'Fork', answer: 'ForkedRun', status: 201, summary: 'Start a new run from a frame or a tool call' },
  edit: { route: 'POST /api/runs/:run/edits', needs: 'operator', input: 'Edit', answer: 'RunSummary', summary: 'Edit durable state' },
  undo: { route: 'POST /api/runs/:run/undo', needs: 'operator', input: 'Undo', answer: 'UndoReport', summary: 'Undo the changes of a tool call, or preview that' },
  rollback: { route: 'POST /api/runs/:run/rollback', needs: 'operator', input: 'Rollback', answer: 'RollbackReport', summary: 'Roll files, state and transcript back to a tool call in a new run, or preview that' },
  keep: { route: 'POST /api/runs/:run/keep', needs: 'operator', input: 'Empty', answer: 'RunSummary', summary: 'Keep a run, whatever its age' },
  unkeep: { route: 'POST /api/runs/:run/unkeep', needs: 'operator', input: 'Empty', answer: 'RunSummary', summary: 'Let retention collect a run again' },
  // Permanent, and only for a caller who knows the secret.
  redact: { route: 'POST /api/runs/:run/redact', needs: 'owner', input: 'Redaction', answer: 'RedactionReport', summary: 'Remove a secret from a run and its descendants, or preview that' },
  addNode: { route: 'POST /api/runs/:run/nodes', needs: 'operator', summary: 'Add a node: only for graphs; a plan lays out its own run' },
  changeNode: { route: 'PATCH /api/runs/:run/nodes/:node', needs: 'operator', summary: 'Change a node: only for graphs; a plan lays out its own run' },
  addEdge: { route: 'POST /api/runs/:run/edges', needs: 'operator', summary: 'Add an edge: only for graphs; a plan lays out its own run' },
  removeEdge: { route: 'DELETE /api/runs/:run/edges/:edge', needs: 'operator', summary: 'Remove an edge: only for graphs; a plan lays out its own run' },
  chat: { route: 'POST /api/runs/:run/chat', needs: 'operator', input: 'Chat', answer: 'QueuedMessage', summary: 'Queue a message for the next turn of an agent node' },

  compare: { route: 'GET /api/runs/:run/compare/:other', needs: 'viewer', answer: 'Comparison', summary: 'Compare two runs: plan, input, state, output, files, cost, time, decisions, and frame by frame where they part' },
  lineage: { route: 'GET /api/runs/:run/lineage', needs: 'viewer', input: 'ListQuery', answer: 'Lineage', summary: 'The parent and the forks of a run' },
  checkpoints: { route: 'GET /api/runs/:run/checkpoints', needs: 'viewer', input: 'ListQuery', answer: 'CheckpointList', summary: 'Tool calls of a run that can be undone' },
  events: { route: 'GET /api/runs/:run/events', needs: 'viewer', input: 'EventsQuery', answer: 'EventList', summary: 'Events in order, in the form of the contract or as stored' },
  frames: { route: 'GET /api/runs/:run/frames', needs: 'viewer', input: 'PageQuery', answer: 'FrameList', summary: 'Frames, oldest first' },
  tree: { route: 'GET /api/runs/:run/frames/:frame/tree', needs: 'viewer', input: 'NoQuery', answer: 'FrameTree', summary: 'The tree of a frame' },
  state: { route: 'GET /api/runs/:run/state', needs: 'viewer', input: 'StateQuery', args: ['frame'], answer: 'FrameState', summary: 'Durable state, current or in a frame' },
  transitions: { route: 'GET /api/runs/:run/transitions', needs: 'viewer', input: 'TransitionsQuery', answer: 'TransitionList', summary: 'Changes of state, with both values' },
  tasks: { route: 'GET /api/runs/:run/tasks', needs: 'viewer', input: 'TasksQuery', answer: 'TaskList', summary: 'Tasks of a run' },
  stream: { route: 'GET /api/runs/:run/stream/:task', needs: 'viewer', input: 'PageQuery', answer: 'ChunkList', summary: 'The output of an agent during a task' },
  diff: { route: 'GET /api/runs/:run/diff', needs: 'viewer', input: 'StateQuery', args: ['frame'], answer: 'WorkspaceDiff', summary: 'The diff of the workspace of a run, current or up to a frame' },
  changes: { route: 'GET /api/runs/:run/changes', needs: 'viewer', input: 'ChangesQuery', answer: 'RunChanges', summary: 'What tool calls of a run changed in files, wherever they worked, current or up to a frame' },
  nodeInput: { route: 'GET /api/runs/:run/nodes/:node/input', needs: 'viewer', input: 'StateQuery', args: ['frame'], answer: 'NodeInput', summary: 'The complete input of a node, current or in a frame' },
  bundle: { route: 'GET /api/runs/:run/bundle', needs: 'viewer', answer: 'bytes', summary: 'Export a run as one file' },
  verify: { route: 'POST /api/runs/:run/verify', needs: 'viewer', input: 'Verify', answer: 'RunCheck', summary: 'Verify the record of a run: its events, its journal, a head' },
  // Both run the code of a plan.
  replay: { route: 'POST /api/runs/:run/replay', needs: 'operator', input: 'Replay', answer: 'ReplayReport', summary: 'Replay the frames of a run, without work or models' },
  describePlan: { route: 'GET /api/plans/describe', needs: 'operator', input: 'PlanFileQuery', args: ['file'], answer: 'Plan', summary: 'Describe a plan and its input, without running it' },
  planFiles: { route: 'GET /api/plans/files', needs: 'operator', answer: 'PlanFiles', summary: 'Plans in the directories that plans may be started from' },
  plans: { route: 'GET /api/plans', needs: 'viewer', input: 'PlansQuery', answer: 'PlanList', summary: 'Plans of existing runs, most recently run first' },

  decisions: { route: 'GET /api/approvals', needs: 'viewer', input: 'DecisionsQuery', answer: 'DecisionList', summary: 'Decisions, oldest first' },
  resolve: { route: 'POST /api/approvals/:decision/resolve', needs: 'approver', input: 'Answer', answer: 'Decision', summary: 'Answer a decision' },

  find: { route: 'GET /api/find', needs: 'viewer', input: 'FindQuery', answer: 'FoundList', summary: 'Search runs, nodes, messages, tool calls, files, artifacts and guided notes' },
  artifacts: { route: 'GET /api/artifacts', needs: 'viewer', input: 'ArtifactsQuery', answer: 'ArtifactList', summary: 'Artifacts, newest first' },
  artifact: { route: 'GET /api/artifacts/:artifact', needs: 'viewer', answer: 'Artifact', summary: 'An artifact without its content' },
  artifactContent: { route: 'GET /api/artifacts/:artifact/content', needs: 'viewer', answer: 'bytes', summary: 'The content of an artifact, or a range of it' },

  sessions: { route: 'GET /api/sessions', needs: 'viewer', input: 'ListQuery', answer: 'SessionList', summary: 'Guided sessions, most recently written first' },
  startSession: { route: 'POST /api/sessions', needs: 'operator', input: 'StartSession', answer: 'StartedSession', status: 201, key: 'The same key answers the same session.', summary: 'Start a guided session for an agent' },
  session: { route: 'GET /api/sessions/:session', needs: 'viewer', answer: 'Session', summary: 'A guided session: its runs, places, notes and gaps' },
  answerGap: { route: 'POST /api/sessions/:session/gaps/:gap/answer', needs: 'approver', input: 'GapAnswer', answer: 'Gap', summary: 'Answer a gap of a session' },
  workflows: { route: 'GET /api/workflows', needs: 'viewer', input: 'ListQuery', answer: 'WorkflowList', summary: 'The catalogue of guided workflows' },
  workflow: { route: 'GET /api/workflows/:workflow', needs: 'viewer', answer: 'Workflow', summary: 'A workflow before its start' },
  workflowSchema: { route: 'GET /api/workflow.schema.json', needs: 'no token', answer: 'bytes', summary: 'The JSON Schema of workflow files, for editors' },
  checkWorkflow: { route: 'POST /api/workflows/check', needs: 'operator', input: 'CheckWorkflow', answer: 'WorkflowCheck', summary: 'Compile a source that is in no file yet, and report its problems' },
  copyWorkflow: { route: 'POST /api/workflows/:workflow/copy', needs: 'operator', input: 'CopyWorkflow', answer: 'SavedWorkflow', status: 201, summary: 'Copy a workflow into a namespace of your own' },
  saveWorkflow: { route: 'POST /api/workflows/:workflow/source', needs: 'operator', input: 'SaveWorkflow', answer: 'SavedWorkflow', summary: 'Write the source of a workflow of your own' },
  workflowForms: { route: 'GET /api/workflows/:workflow/forms', needs: 'viewer', input: 'WorkflowFormsQuery', args: ['pinned'], answer: 'WorkflowForms', summary: 'The source, compiled and pinned forms of a workflow' },

  providers: { route: 'GET /api/providers', needs: 'viewer', answer: 'ProviderList', summary: 'Model providers: their health, and until when they ask callers to wait' },
  runSpend: { route: 'GET /api/runs/:run/usage', needs: 'viewer', answer: 'RunSpend', summary: 'What a run has spent so far, by node and model, and its latest calls' },
  modelCall: { route: 'GET /api/runs/:run/calls/:call', needs: 'viewer', answer: 'ModelCall', summary: 'A call of a model: its request and answer, and what changed since the call before' },
  spending: { route: 'GET /api/usage', needs: 'viewer', input: 'SpendingQuery', answer: 'SpendingList', summary: 'Spending by day, model and directory' },
  recoveries: { route: 'GET /api/recoveries', needs: 'viewer', answer: 'RecoveryList', summary: 'Interrupted tool calls, and how the next start handled them' },
  dismissRecovery: { route: 'POST /api/recoveries/:call/dismiss', needs: 'operator', input: 'Empty', answer: 'Recovery', summary: 'Dismiss a recovery' },
  importBundle: { route: 'POST /api/imports', needs: 'operator', input: 'Import', answer: 'ImportReport', summary: 'Import an exported run as a new one' },
  collect: { route: 'POST /api/gc', needs: 'operator', input: 'Collect', answer: 'CollectReport', summary: 'Collect runs by the retention rules' },

  settings: { route: 'GET /api/settings', needs: 'viewer', answer: 'Settings', summary: 'Settings: desired and applied values' },
  limits: { route: 'GET /api/limits', needs: 'viewer', answer: 'Limits', summary: 'Limits of new runs, of days and of projects, with what was spent and which runs wait' },
  // Whoever may change them decides what is paid for.
  changeLimits: { route: 'PATCH /api/limits', needs: 'owner', input: 'LimitsChange', answer: 'Limits', summary: 'Change a limit in the configuration; runs that wait for it go on if they can' },
  agents: { route: 'GET /api/installed-agents', needs: 'viewer', answer: 'AgentList', summary: 'Agents of other vendors: what is installed, what was found when it was checked, what is under way' },
  // Software is the owner's; starting an agent is what any run does.
  addAgent: { route: 'POST /api/installed-agents/:agent/add', needs: 'owner', input: 'Empty', answer: 'Agent', summary: 'Begin to install an agent at its pinned version in the data directory' },
  checkAgent: { route: 'POST /api/installed-agents/:agent/check', needs: 'operator', input: 'Empty', answer: 'Agent', summary: 'Begin to check an agent: start it and complete a turn, without keys or network' },
  cancelAgentJob: { route: 'POST /api/installed-agents/:agent/cancel', needs: 'operator', input: 'Empty', answer: 'Agent', summary: 'Cancel the installation or check of an agent' },
  removeAgent: { route: 'DELETE /api/installed-agents/:agent', needs: 'owner', answer: 'Agent', summary: 'Remove an agent that was installed in the data directory' },

  fleet: { route: 'GET /api/fleet', needs: 'viewer', answer: 'Fleet', summary: 'The complete state of the fleet, as the socket sends it first' },
  fleetLog: { route: 'GET /api/fleet/log', needs: 'viewer', input: 'FleetLogQuery', answer: 'FleetLog', summary: 'Entries of the log of the fleet, newest first: events, decisions, audit, trust, quarantine, brakes, artifacts, issues' },
  fleetAgents: { route: 'GET /api/agents', needs: 'viewer', answer: 'FleetAgentList', summary: 'Agents of the fleet, with their standing' },
  fleetAgent: { route: 'GET /api/agents/:agent', needs: 'viewer', answer: 'FleetAgent', summary: 'An agent of the fleet: handle, brief, history and health' },
  spawnAgent: { route: 'POST /api/agents/spawn', needs: 'operator', input: 'Spawn', answer: 'FleetAgent', status: 201, summary: 'Spawn an agent' },
  killAgent: { route: 'POST /api/agents/:agent/kill', needs: 'operator', input: 'Kill', args: ['reason'], answer: 'FleetAgent', summary: 'Kill an agent; its open decisions become orphans' },
  pauseAgent: { route: 'POST /api/agents/:agent/pause', needs: 'operator', input: 'Kill', args: ['reason'], answer: 'FleetAgent', summary: 'Pause an agent; without support for pausing, abort it and save its state' },
  resumeAgent: { route: 'POST /api/agents/:agent/resume', needs: 'operator', input: 'Empty', answer: 'FleetAgent', summary: 'Resume an agent' },
  restartAgent: { route: 'POST /api/agents/:agent/restart', needs: 'operator', input: 'Empty', answer: 'FleetAgent', summary: 'Restart an agent with the current brief' },
  changeBrief: { route: 'PATCH /api/agents/:agent/brief', needs: 'operator', input: 'BriefChanges', answer: 'FleetAgent', summary: 'Change the brief of an agent, at once or at its next start' },
  queue: { route: 'GET /api/decisions', needs: 'viewer', answer: 'DecisionQueue', summary: 'The one queue of decisions: of agents and of runs' },
  resolveDecision: { route: 'POST /api/decisions/:id/resolve', needs: 'approver', input: 'Answer', answer: 'QueuedDecision', summary: 'Answer a decision of an agent or of a run' },
  brakes: { route: 'GET /api/brake', needs: 'viewer', answer: 'BrakeList', summary: 'Brakes, with the time to silence of each agent' },
  brake: { route: 'POST /api/brake', needs: 'operator', input: 'Brake', answer: 'BrakeList', summary: 'Stop agents: all, one or a workstream' },
  releaseBrake: { route: 'POST /api/brake/release', needs: 'operator', input: 'ReleaseBrake', answer: 'BrakeList', summary: 'Release a brake, or all of them' },
  controlMode: { route: 'GET /api/control-mode', needs: 'viewer', answer: 'Mode', summary: 'The control mode of the project' },
  setControlMode: { route: 'PUT /api/control-mode', needs: 'operator', input: 'ControlMode', args: ['mode'], answer: 'Mode', summary: 'Change the control mode' },
  trust: { route: 'GET /api/trust/:agent', needs: 'viewer', answer: 'Trust', summary: 'The trust of an agent, with its history' },
  recomputeTrust: { route: 'GET /api/trust/:agent/proof', needs: 'viewer', answer: 'TrustProof', summary: 'Compute the trust of an agent again from the log, and compare' },
  simulateTrust: { route: 'GET /api/trust/:agent/simulation', needs: 'viewer', input: 'SimulateQuery', answer: 'TrustSimulation', summary: 'Replay the history with another profile: what would have been asked' },
  ticks: { route: 'GET /api/tick', needs: 'viewer', answer: 'Ticks', summary: 'Logical time' },
  advanceTicks: { route: 'POST /api/tick/advance', needs: 'operator', input: 'AdvanceTicks', answer: 'Ticks', summary: 'Advance logical time, in manual mode' },
  coherence: { route: 'GET /api/coherence', needs: 'viewer', answer: 'Coherence', summary: 'Coherence issues, the score and its trend' },
  settleIssue: { route: 'POST /api/coherence/:issue/settle', needs: 'approver', input: 'SettleIssue', args: ['as'], answer: 'Coherence', summary: 'Confirm, resolve or dismiss a coherence issue' },
  knownArtifacts: { route: 'GET /api/knowledge/artifacts', needs: 'viewer', input: 'KnownArtifactsQuery', answer: 'KnownArtifactList', summary: 'Artifacts of agents, by workstream' },
  reviewArtifact: { route: 'POST /api/knowledge/artifacts/:artifact/review', needs: 'approver', input: 'Review', answer: 'KnownArtifact', summary: 'Approve or reject an artifact of an agent; its trust follows' },

  users: { route: 'GET /api/users', needs: 'owner', input: 'UsersQuery', answer: 'UserList', summary: 'Users with tokens, by name' },
  addUser: { route: 'POST /api/users', needs: 'owner', input: 'AddUser', args: ['name'], answer: 'AddedUser', status: 201, summary: 'Add a user; only this answer contains the token' },
  rotateUser: { route: 'POST /api/users/:name/rotate', needs: 'owner', input: 'RotateUser', answer: 'AddedUser', summary: 'Replace the token of a user' },
  removeUser: { route: 'DELETE /api/users/:name', needs: 'owner', answer: 'User', summary: 'Remove a user: the token is void, and open connections end' },

  watch: { route: 'WS /api/ws', needs: 'viewer', summary: 'Follow a run, or all of them' },
  operatorMcp: { route: 'ALL /mcp', needs: 'viewer', answer: 'bytes', summary: 'MCP: runs as resources and tools, for operators' },
  agentMcp: { route: 'ALL /mcp/agent', needs: 'agent', answer: 'bytes', summary: 'MCP: guided workflows, for agents' },
} as const satisfies Readonly<Record<string, Row>>;

export type Operations = typeof operations;
export type OperationName = keyof Operations;

/** The parsed input; undefined for an operation without one. */
export type InputOf<Name extends OperationName> = Operations[Name] extends {
  readonly input: infer Input extends keyof typeof inputs;
}
  ? z.output<(typeof inputs)[Input]>
  : undefined;

export type AnswerOf<Name extends OperationName> = Operations[Name] extends { readonly answer: infer Answer }
  ? Answer extends keyof typeof answers
    ? z.output<(typeof answers)[Answer]>
    : Uint8Array
  : never;

/** The names of the parameters in a path, in order. */
export type PathNames<Route extends string> = Route extends `${string}/:${infer Name}/${infer Rest}`
  ? [Name, ...PathNames<`/${Rest}`>]
  : Route extends `${string}/:${infer Name}`
    ? [Name]
    : [];
