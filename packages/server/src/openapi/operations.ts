import {
  answerBody,
  artifactList,
  artifactsQuery,
  checkpointList,
  chunkList,
  collectBody,
  collectReport,
  decisionList,
  decisionsQuery,
  editBody,
  emptyBody,
  errorEnvelope,
  eventList,
  forkBody,
  frameList,
  frameState,
  frameTree,
  health,
  lineage,
  pageQuery,
  rerunBody,
  resumeBody,
  retryBody,
  runList,
  runSnapshot,
  runSummary,
  runsQuery,
  signalBody,
  spendingList,
  spendingQuery,
  startBody,
  stateQuery,
  stopBody,
  taskList,
  transitionList,
  transitionsQuery,
  undoBody,
  undoReport,
  wireArtifact,
  wireDecision,
  workspaceDiff,
} from '@signalbox/model';
import type * as z from 'zod';

/** What travels, by the name that the description gives it. */
export const wireSchemas = {
  Answer: answerBody,
  Artifact: wireArtifact,
  ArtifactList: artifactList,
  CheckpointList: checkpointList,
  ChunkList: chunkList,
  Collect: collectBody,
  CollectReport: collectReport,
  Decision: wireDecision,
  DecisionList: decisionList,
  Edit: editBody,
  Empty: emptyBody,
  Error: errorEnvelope,
  EventList: eventList,
  Fork: forkBody,
  FrameList: frameList,
  FrameState: frameState,
  FrameTree: frameTree,
  Health: health,
  Lineage: lineage,
  Rerun: rerunBody,
  Resume: resumeBody,
  Retry: retryBody,
  Run: runSnapshot,
  RunList: runList,
  RunSummary: runSummary,
  Signal: signalBody,
  SpendingList: spendingList,
  Start: startBody,
  Stop: stopBody,
  TaskList: taskList,
  TransitionList: transitionList,
  Undo: undoBody,
  UndoReport: undoReport,
  WorkspaceDiff: workspaceDiff,
} as const satisfies Readonly<Record<string, z.ZodType>>;
export type SchemaName = keyof typeof wireSchemas;

/** A route of the API, as whoever calls it sees it. */
export interface Operation {
  readonly method: 'get' | 'post' | 'patch' | 'delete';
  /** With its parameters as the router writes them: `/api/runs/:run`. */
  readonly path: string;
  readonly summary: string;
  readonly query?: z.ZodObject;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: SchemaName;
  /** What a good answer has; without it the route only ever refuses. */
  readonly answer?: SchemaName | 'bytes';
  readonly status?: 200 | 201;
}

const get = (path: string, summary: string, answer: Operation['answer'], query?: z.ZodObject): Operation => ({
  method: 'get',
  path: `/api${path}`,
  summary,
  ...(answer !== undefined && { answer }),
  ...(query !== undefined && { query }),
});
const post = (
  path: string,
  summary: string,
  body: SchemaName,
  answer: SchemaName,
  status: 200 | 201 = 200,
): Operation => ({
  method: 'post',
  path: `/api${path}`,
  summary,
  body,
  answer,
  status,
});
/** Of the contract, for runs that are graphs. */
const refused = (method: Operation['method'], path: string, summary: string): Operation => ({
  method,
  path: `/api${path}`,
  summary: `${summary}: only a graph can; a plan lays out its run itself`,
});

/** Every route under `/api`. */
export const operations: readonly Operation[] = [
  get('/health', 'Is it there, and how much does it drive', 'Health'),
  get('/openapi.json', 'This description', 'bytes'),
  {
    ...post('/runs', 'Start a run of a plan', 'Start', 'RunSummary', 201),
    headers: { 'Idempotency-Key': 'The same key answers the same run.' },
  },
  get('/runs', 'Runs, newest first', 'RunList', runsQuery),
  get('/runs/:run', 'A run as it is now', 'Run'),
  post('/runs/:run/pause', 'Start nothing new', 'Empty', 'RunSummary'),
  post('/runs/:run/resume', 'Go on', 'Resume', 'RunSummary'),
  post('/runs/:run/stop', 'Cancel what runs, and stop', 'Stop', 'RunSummary'),
  post('/runs/:run/terminate', 'End at once', 'Stop', 'RunSummary'),
  post('/runs/:run/signals', 'Tell a run that something happened', 'Signal', 'RunSummary'),
  post('/runs/:run/nodes/:node/retry', 'Run a node anew, by other rules if they are given', 'Retry', 'RunSummary'),
  post('/runs/:run/nodes/:node/cancel', 'Cancel the work of a node', 'Empty', 'RunSummary'),
  post('/runs/:run/nodes/:node/reset', 'Count the turns of a loop from the beginning', 'Empty', 'RunSummary'),
  post('/runs/:run/nodes/:node/rerun', 'A new run that begins where a node began', 'Rerun', 'RunSummary', 201),
  post('/runs/:run/fork', 'A new run that goes on from a frame or a tool call', 'Fork', 'RunSummary', 201),
  post('/runs/:run/edits', 'Change durable state from outside', 'Edit', 'RunSummary'),
  get('/runs/:run/lineage', 'Where a run comes from, and its forks', 'Lineage'),
  get('/runs/:run/checkpoints', 'Tool calls of a run that can be undone', 'CheckpointList'),
  post('/runs/:run/undo', 'Bring back what a tool call changed, or say what that would be', 'Undo', 'UndoReport'),
  post('/runs/:run/keep', 'Keep a run, however old it gets', 'Empty', 'RunSummary'),
  post('/runs/:run/unkeep', 'Let a run go by the rules of retention', 'Empty', 'RunSummary'),
  get('/runs/:run/events', 'Events in order', 'EventList', pageQuery),
  get('/runs/:run/frames', 'Frames, oldest first', 'FrameList', pageQuery),
  get('/runs/:run/frames/:frame/tree', 'The tree of a frame', 'FrameTree'),
  get('/runs/:run/state', 'Durable state, now or in a frame', 'FrameState', stateQuery),
  get('/runs/:run/transitions', 'Changes of state, with both values', 'TransitionList', transitionsQuery),
  get('/runs/:run/tasks', 'Work that was started', 'TaskList'),
  get('/runs/:run/stream/:task', 'What an agent said', 'ChunkList', pageQuery),
  refused('post', '/runs/:run/nodes', 'Add a node'),
  refused('patch', '/runs/:run/nodes/:node', 'Change a node'),
  refused('post', '/runs/:run/edges', 'Add an edge'),
  refused('delete', '/runs/:run/edges/:edge', 'Remove an edge'),
  refused('post', '/runs/:run/chat', 'Send a message to a node'),
  get('/approvals', 'What waits for a person', 'DecisionList', decisionsQuery),
  post('/approvals/:decision/resolve', 'Answer a decision', 'Answer', 'Decision'),
  get('/usage', 'What was spent, by day, model and directory', 'SpendingList', spendingQuery),
  get('/artifacts', 'What runs keep for people to see, newest first', 'ArtifactList', artifactsQuery),
  get('/artifacts/:artifact', 'An artifact without its content', 'Artifact'),
  get('/artifacts/:artifact/content', 'The content of an artifact, whole or a range of it', 'bytes'),
  get('/runs/:run/diff', 'What a run changed in files of its own, now or up to a frame', 'WorkspaceDiff', stateQuery),
  post('/gc', 'Collect what the rules of retention let go', 'Collect', 'CollectReport'),
];
