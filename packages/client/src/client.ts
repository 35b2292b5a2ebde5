import {
  type AnswerBody,
  type ApprovalId,
  type ArtifactId,
  type ArtifactKind,
  type ArtifactList,
  artifactList,
  type CheckpointList,
  type ChunkList,
  type CollectBody,
  type CollectReport,
  checkpointList,
  chunkList,
  collectReport,
  type DecisionList,
  decisionList,
  type EditBody,
  type EventList,
  eventList,
  type ForkBody,
  type FrameList,
  type FrameState,
  type FrameTree,
  frameList,
  frameState,
  frameTree,
  type GapAnswerBody,
  type Health,
  health,
  type ImportBody,
  type ImportReport,
  importReport,
  type Json,
  type Lineage,
  lineage,
  type RerunBody,
  type ResumeBody,
  type RetryBody,
  type RunId,
  type RunList,
  type RunSnapshot,
  type RunStatus,
  type RunSummary,
  runList,
  runSnapshot,
  runSummary,
  type SessionDetail,
  type SessionGap,
  type SessionId,
  type SessionList,
  type SpendingList,
  type StartBody,
  sessionDetail,
  sessionGap,
  sessionList,
  spendingList,
  type TaskList,
  type TransitionList,
  taskList,
  transitionList,
  treeNode,
  type UndoBody,
  type UndoReport,
  undoReport,
  type WireArtifact,
  type WireDecision,
  type WorkflowDetail,
  type WorkflowList,
  type WorkspaceDiff,
  wireArtifact,
  wireDecision,
  workflowDetail,
  workflowList,
  workspaceDiff,
} from '@signalbox/model';
import { type Connect, connectWebSocket } from './connect.ts';
import { type Answer, createContentRequest, createRequest, type Fetch } from './request.ts';
import { type News, type Watch, type WatchOptions, watch } from './watch.ts';

export interface ClientOptions {
  /** Such as `http://127.0.0.1:4280`. */
  readonly url: string;
  readonly token: string;
  readonly fetch?: Fetch;
  readonly connect?: Connect;
  readonly after?: (ms: number, run: () => void) => () => void;
  readonly random?: () => number;
}

export interface RunsFilter {
  readonly status?: readonly RunStatus[];
  readonly name?: string;
  readonly tag?: string;
  readonly correlationId?: string;
  /** The `next` of the page before. */
  readonly after?: RunId;
  readonly limit?: number;
}

export interface PageOptions {
  readonly from?: number;
  readonly limit?: number;
}

export interface TransitionsOptions {
  readonly key?: string;
  /** The `next` of the page before. */
  readonly from?: string;
  readonly limit?: number;
}

export interface SpendingFilter {
  readonly run?: RunId;
  /** A timestamp. */
  readonly since?: string;
}

export interface DecisionsFilter {
  readonly run?: RunId;
  readonly status?: 'open' | 'answered' | 'withdrawn' | 'all';
}

export interface ArtifactsFilter {
  readonly run?: RunId;
  readonly kind?: ArtifactKind;
  readonly key?: string;
  /** Of a key only the last version, unless all are asked for. */
  readonly versions?: 'last' | 'all';
  /** The `next` of the page before. */
  readonly after?: ArtifactId;
  readonly limit?: number;
}

/** The server, one method a route. */
export interface Client {
  health(): Answer<Health>;
  runs(filter?: RunsFilter): Answer<RunList>;
  run(run: RunId): Answer<RunSnapshot>;
  start(body: StartBody, options?: { readonly idempotencyKey?: string }): Answer<RunSummary>;
  resume(run: RunId, body?: ResumeBody): Answer<RunSummary>;
  pause(run: RunId): Answer<RunSummary>;
  stop(run: RunId, reason?: string): Answer<RunSummary>;
  terminate(run: RunId, reason?: string): Answer<RunSummary>;
  retry(run: RunId, node: string, body?: RetryBody): Answer<RunSummary>;
  reset(run: RunId, node: string): Answer<RunSummary>;
  rerun(run: RunId, node: string, body?: RerunBody): Answer<RunSummary>;
  fork(run: RunId, body: ForkBody): Answer<RunSummary>;
  edit(run: RunId, body: EditBody): Answer<RunSummary>;
  lineage(run: RunId): Answer<Lineage>;
  checkpoints(run: RunId): Answer<CheckpointList>;
  undo(run: RunId, body: UndoBody): Answer<UndoReport>;
  cancel(run: RunId, node: string): Answer<RunSummary>;
  signal(run: RunId, name: string, payload?: Json): Answer<RunSummary>;
  events(run: RunId, page?: PageOptions): Answer<EventList>;
  frames(run: RunId, page?: PageOptions): Answer<FrameList>;
  tree(run: RunId, frame: number): Answer<FrameTree>;
  state(run: RunId, frame?: number): Answer<FrameState>;
  transitions(run: RunId, options?: TransitionsOptions): Answer<TransitionList>;
  tasks(run: RunId): Answer<TaskList>;
  stream(run: RunId, task: string, page?: PageOptions): Answer<ChunkList>;
  keep(run: RunId): Answer<RunSummary>;
  unkeep(run: RunId): Answer<RunSummary>;
  collect(body: CollectBody): Answer<CollectReport>;
  /** The run as a file: its record, what it kept, and its journal. */
  bundle(run: RunId): Answer<Uint8Array>;
  /** Takes in a bundle that lies on the server's machine, as a new run. */
  importBundle(body: ImportBody): Answer<ImportReport>;
  decisions(filter?: DecisionsFilter): Answer<DecisionList>;
  resolve(decision: ApprovalId, answer: AnswerBody): Answer<WireDecision>;
  /** Guided sessions; a server without guided workflows has no such route. */
  sessions(): Answer<SessionList>;
  session(session: SessionId): Answer<SessionDetail>;
  answerGap(session: SessionId, gap: string, answer: GapAnswerBody): Answer<Pick<SessionGap, 'gapId'>>;
  workflows(): Answer<WorkflowList>;
  workflow(workflow: string): Answer<WorkflowDetail>;
  /** What was spent by day, model and directory. */
  spending(filter?: SpendingFilter): Answer<SpendingList>;
  artifacts(filter?: ArtifactsFilter): Answer<ArtifactList>;
  artifact(artifact: ArtifactId): Answer<WireArtifact>;
  /** The bytes of an artifact. */
  artifactContent(artifact: ArtifactId): Answer<Uint8Array>;
  /** What a run changed in its workspace up to a frame, its last one unless told otherwise. */
  diff(run: RunId, frame?: number): Answer<WorkspaceDiff>;
  watch(run: RunId | 'all', tell: (news: News) => void, options?: WatchOptions): Watch;
}

export function createClient({
  url: given,
  token,
  fetch = (address, init) => globalThis.fetch(address, init),
  connect = connectWebSocket,
  after = later,
  random = Math.random,
}: ClientOptions): Client {
  const url = given.replace(/\/+$/, '');
  const request = createRequest(url, token, fetch);
  const content = createContentRequest(url, token, fetch);
  const ofRun = (run: RunId, rest = '') => `/api/runs/${encodeURIComponent(run)}${rest}`;
  const command = (path: string, body: object) => request({ method: 'POST', path, body, answer: runSummary });
  const ofNode = (run: RunId, node: string, verb: string) => ofRun(run, `/nodes/${encodeURIComponent(node)}/${verb}`);

  return {
    health: () => request({ method: 'GET', path: '/api/health', answer: health }),
    runs: ({ status, ...filter } = {}) =>
      request({ method: 'GET', path: '/api/runs', query: { ...filter, status: status?.join(',') }, answer: runList }),
    run: run => request({ method: 'GET', path: ofRun(run), answer: runSnapshot }),
    start: (body, { idempotencyKey } = {}) =>
      request({ method: 'POST', path: '/api/runs', body, idempotencyKey, answer: runSummary }),
    resume: (run, body = {}) => command(ofRun(run, '/resume'), body),
    keep: run => command(ofRun(run, '/keep'), {}),
    unkeep: run => command(ofRun(run, '/unkeep'), {}),
    bundle: run => content(ofRun(run, '/bundle')),
    importBundle: body => request({ method: 'POST', path: '/api/imports', body, answer: importReport }),
    collect: body => request({ method: 'POST', path: '/api/gc', body, answer: collectReport }),
    pause: run => command(ofRun(run, '/pause'), {}),
    stop: (run, reason) => command(ofRun(run, '/stop'), reason === undefined ? {} : { reason }),
    terminate: (run, reason) => command(ofRun(run, '/terminate'), reason === undefined ? {} : { reason }),
    retry: (run, node, body = {}) => command(ofNode(run, node, 'retry'), body),
    reset: (run, node) => command(ofNode(run, node, 'reset'), {}),
    rerun: (run, node, body = {}) => command(ofNode(run, node, 'rerun'), body),
    fork: (run, body) => command(ofRun(run, '/fork'), body),
    edit: (run, body) => command(ofRun(run, '/edits'), body),
    lineage: run => request({ method: 'GET', path: ofRun(run, '/lineage'), answer: lineage }),
    checkpoints: run => request({ method: 'GET', path: ofRun(run, '/checkpoints'), answer: checkpointList }),
    undo: (run, body) => request({ method: 'POST', path: ofRun(run, '/undo'), body, answer: undoReport }),
    cancel: (run, node) => command(ofNode(run, node, 'cancel'), {}),
    signal: (run, name, payload = null) => command(ofRun(run, '/signals'), { name, payload }),
    events: (run, page = {}) =>
      request({ method: 'GET', path: ofRun(run, '/events'), query: { ...page }, answer: eventList }),
    frames: (run, page = {}) =>
      request({ method: 'GET', path: ofRun(run, '/frames'), query: { ...page }, answer: frameList }),
    tree: (run, frame) =>
      request({
        method: 'GET',
        path: ofRun(run, `/frames/${frame}/tree`),
        answer: frameTree,
        list: { name: 'tree', item: treeNode },
      }),
    state: (run, frame) => request({ method: 'GET', path: ofRun(run, '/state'), query: { frame }, answer: frameState }),
    transitions: (run, options = {}) =>
      request({ method: 'GET', path: ofRun(run, '/transitions'), query: { ...options }, answer: transitionList }),
    tasks: run => request({ method: 'GET', path: ofRun(run, '/tasks'), answer: taskList }),
    stream: (run, task, page = {}) =>
      request({
        method: 'GET',
        path: ofRun(run, `/stream/${encodeURIComponent(task)}`),
        query: { ...page },
        answer: chunkList,
      }),
    decisions: (filter = {}) =>
      request({ method: 'GET', path: '/api/approvals', query: { ...filter }, answer: decisionList }),
    resolve: (decision, answer) =>
      request({ method: 'POST', path: `/api/approvals/${decision}/resolve`, body: answer, answer: wireDecision }),
    sessions: () => request({ method: 'GET', path: '/api/sessions', answer: sessionList }),
    session: session => request({ method: 'GET', path: `/api/sessions/${session}`, answer: sessionDetail }),
    answerGap: (session, gap, body) =>
      request({
        method: 'POST',
        path: `/api/sessions/${session}/gaps/${encodeURIComponent(gap)}/answer`,
        body,
        answer: sessionGap.pick({ gapId: true }),
      }),
    workflows: () => request({ method: 'GET', path: '/api/workflows', answer: workflowList }),
    workflow: workflow =>
      request({ method: 'GET', path: `/api/workflows/${encodeURIComponent(workflow)}`, answer: workflowDetail }),
    spending: (filter = {}) =>
      request({ method: 'GET', path: '/api/usage', query: { ...filter }, answer: spendingList }),
    artifacts: (filter = {}) =>
      request({ method: 'GET', path: '/api/artifacts', query: { ...filter }, answer: artifactList }),
    artifact: artifact => request({ method: 'GET', path: `/api/artifacts/${artifact}`, answer: wireArtifact }),
    artifactContent: artifact => content(`/api/artifacts/${artifact}/content`),
    diff: (run, frame) =>
      request({ method: 'GET', path: ofRun(run, '/diff'), query: { frame }, answer: workspaceDiff }),
    watch: (run, tell, options) => watch({ url, token, connect, after, random }, run, tell, options),
  };
}

function later(ms: number, run: () => void): () => void {
  const timer = setTimeout(run, ms);
  return () => clearTimeout(timer);
}
