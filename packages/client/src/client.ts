import {
  type AddedUser,
  type AddUserBody,
  type AnswerBody,
  type ApprovalId,
  type ArtifactId,
  type ArtifactKind,
  type ArtifactList,
  addedUser,
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
  type NodeInput,
  nodeInput,
  type OneTimeLink,
  oneTimeLink,
  type PlanDescription,
  type PlanList,
  type ProviderList,
  planDescription,
  planList,
  providerList,
  type RecoveryList,
  type RecoveryNote,
  type RedactionBody,
  type RedactionReport,
  type ReplayBody,
  type ReplayReport,
  type RerunBody,
  type ResumeBody,
  type RetryBody,
  type RollbackBody,
  type RollbackReport,
  type RotateUserBody,
  type RunCheck,
  type RunId,
  type RunKind,
  type RunList,
  type RunSnapshot,
  type RunStatus,
  type RunSummary,
  recoveryList,
  recoveryNote,
  redactionReport,
  replayReport,
  rollbackReport,
  runCheck,
  runList,
  runSnapshot,
  runSummary,
  type SessionDetail,
  type SessionGap,
  type SessionId,
  type SessionList,
  type Settings,
  type SpendingList,
  type StartBody,
  type StartedSession,
  type StartSessionBody,
  sessionDetail,
  sessionGap,
  sessionList,
  settings,
  spendingList,
  startedSession,
  type TaskList,
  type TaskStatus,
  type TransitionList,
  taskList,
  transitionList,
  treeNode,
  type UndoBody,
  type UndoReport,
  type UserList,
  undoReport,
  userList,
  type VerifyBody,
  type WireArtifact,
  type WireDecision,
  type WireUser,
  type WorkflowDetail,
  type WorkflowForms,
  type WorkflowList,
  type WorkspaceDiff,
  wireArtifact,
  wireDecision,
  wireUser,
  workflowDetail,
  workflowForms,
  workflowList,
  workspaceDiff,
} from '@signalbox/model';
import { type Connect, connectWebSocket } from './connect.ts';
import { type Answer, createContentRequest, createRequest, type Fetch, platformFetch } from './request.ts';
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
  readonly kind?: RunKind;
  readonly status?: readonly RunStatus[];
  readonly name?: string;
  readonly tag?: string;
  readonly correlationId?: string;
  /** Timestamps: made from the one on, and before the other. */
  readonly since?: string;
  readonly until?: string;
  /** The plan's file, or the id of the workflow. */
  readonly entry?: string;
  /** Where its agents work. */
  readonly directory?: string;
  /** The `next` of the page before. */
  readonly after?: string;
  readonly limit?: number;
}

export interface ListOptions {
  /** The `next` of the page before. */
  readonly after?: string;
  readonly limit?: number;
}

export interface TasksFilter extends ListOptions {
  readonly status?: readonly TaskStatus[];
  readonly node?: string;
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

export interface SpendingFilter extends ListOptions {
  readonly run?: RunId;
  /** A timestamp. */
  readonly since?: string;
}

export interface DecisionsFilter extends ListOptions {
  readonly kind?: RunKind;
  readonly run?: RunId;
  readonly status?: 'open' | 'answered' | 'withdrawn' | 'all';
}

export interface ArtifactsFilter {
  readonly run?: RunId;
  readonly kind?: ArtifactKind;
  readonly key?: string;
  /** Of a key only the last version, unless all are asked for. */
  readonly versions?: 'last' | 'all';
  /** Of one run: also what follows from the turns of its agents, or nothing else. */
  readonly turns?: 'with' | 'only';
  /** Of one run: only those of a node, by its key, or of a task. */
  readonly node?: string;
  readonly task?: string;
  /** The `next` of the page before. */
  readonly after?: string;
  readonly limit?: number;
}

export interface PlansFilter {
  /** The `next` of the page before. */
  readonly after?: string;
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
  lineage(run: RunId, page?: ListOptions): Answer<Lineage>;
  checkpoints(run: RunId, page?: ListOptions): Answer<CheckpointList>;
  undo(run: RunId, body: UndoBody): Answer<UndoReport>;
  rollback(run: RunId, body: RollbackBody): Answer<RollbackReport>;
  cancel(run: RunId, node: string): Answer<RunSummary>;
  signal(run: RunId, name: string, payload?: Json): Answer<RunSummary>;
  events(run: RunId, page?: PageOptions): Answer<EventList>;
  frames(run: RunId, page?: PageOptions): Answer<FrameList>;
  tree(run: RunId, frame: number): Answer<FrameTree>;
  state(run: RunId, frame?: number): Answer<FrameState>;
  transitions(run: RunId, options?: TransitionsOptions): Answer<TransitionList>;
  tasks(run: RunId, filter?: TasksFilter): Answer<TaskList>;
  stream(run: RunId, task: string, page?: PageOptions): Answer<ChunkList>;
  /** Everything that a node was given in a frame; in the last one that has it unless told otherwise. */
  nodeInput(run: RunId, node: string, frame?: number): Answer<NodeInput>;
  /** Whether the record of a run is as it was written. */
  verify(run: RunId, body?: VerifyBody): Answer<RunCheck>;
  /** Whether the frames of a run come out again. */
  replay(run: RunId, body?: ReplayBody): Answer<ReplayReport>;
  /** Plans that runs were made of. */
  plans(filter?: PlansFilter): Answer<PlanList>;
  /** A plan on the server's machine, and what it takes. What is wrong with it is in the answer. */
  describePlan(file: string): Answer<PlanDescription>;
  keep(run: RunId): Answer<RunSummary>;
  unkeep(run: RunId): Answer<RunSummary>;
  /** Takes a secret out of a run and of those that come from it. Only the owner may. */
  redact(run: RunId, body: RedactionBody): Answer<RedactionReport>;
  collect(body: CollectBody): Answer<CollectReport>;
  /** The run as a file: its record, what it kept, and its journal. */
  bundle(run: RunId): Answer<Uint8Array>;
  /** Takes in a bundle that lies on the server's machine, as a new run. */
  importBundle(body: ImportBody): Answer<ImportReport>;
  decisions(filter?: DecisionsFilter): Answer<DecisionList>;
  resolve(decision: ApprovalId, answer: AnswerBody): Answer<WireDecision>;
  /** Guided sessions; a server without guided workflows has no such route. */
  sessions(page?: ListOptions): Answer<SessionList>;
  session(session: SessionId): Answer<SessionDetail>;
  /** Starts a session for an agent to walk; the same key starts it once. */
  startSession(body: StartSessionBody, options?: { readonly idempotencyKey?: string }): Answer<StartedSession>;
  answerGap(session: SessionId, gap: string, answer: GapAnswerBody): Answer<Pick<SessionGap, 'gapId'>>;
  workflows(page?: ListOptions): Answer<WorkflowList>;
  workflow(workflow: string): Answer<WorkflowDetail>;
  /** As it was written, as it compiles, and as a run is pinned to it by a hash. */
  workflowForms(workflow: string, pinned?: string): Answer<WorkflowForms>;
  /** The providers of models: how they do, and until when they want to be left alone. */
  providers(): Answer<ProviderList>;
  /** What the server is set to, as it is written down and as it is applied. */
  /** What recoveries did about tool calls that were cut off. */
  recoveries(): Answer<RecoveryList>;
  dismissRecovery(call: string): Answer<RecoveryNote>;
  settings(): Answer<Settings>;
  /** People and agents with tokens of their own. Only an owner may list, add, rotate and remove them. */
  users(page?: { readonly after?: string; readonly limit?: number }): Answer<UserList>;
  /** The answer has the token, this once. */
  addUser(name: string, terms?: Omit<AddUserBody, 'name'>): Answer<AddedUser>;
  /** A new token in place of the old one; what is open with the old one ends before this answers. */
  rotateUser(name: string, terms?: RotateUserBody): Answer<AddedUser>;
  /** What is open with the user's token ends before this answers. */
  removeUser(name: string): Answer<WireUser>;
  /** A link that opens the console once. */
  newLink(): Answer<OneTimeLink>;
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
  fetch = platformFetch,
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
    nodeInput: (run, node, frame) =>
      request({ method: 'GET', path: ofNode(run, node, 'input'), query: { frame }, answer: nodeInput }),
    verify: (run, body = {}) => request({ method: 'POST', path: ofRun(run, '/verify'), body, answer: runCheck }),
    replay: (run, body = {}) => request({ method: 'POST', path: ofRun(run, '/replay'), body, answer: replayReport }),
    plans: (filter = {}) => request({ method: 'GET', path: '/api/plans', query: { ...filter }, answer: planList }),
    describePlan: file =>
      request({ method: 'GET', path: '/api/plans/describe', query: { file }, answer: planDescription }),
    keep: run => command(ofRun(run, '/keep'), {}),
    unkeep: run => command(ofRun(run, '/unkeep'), {}),
    bundle: run => content(ofRun(run, '/bundle')),
    importBundle: body => request({ method: 'POST', path: '/api/imports', body, answer: importReport }),
    redact: (run, body) => request({ method: 'POST', path: ofRun(run, '/redact'), body, answer: redactionReport }),
    collect: body => request({ method: 'POST', path: '/api/gc', body, answer: collectReport }),
    pause: run => command(ofRun(run, '/pause'), {}),
    stop: (run, reason) => command(ofRun(run, '/stop'), reason === undefined ? {} : { reason }),
    terminate: (run, reason) => command(ofRun(run, '/terminate'), reason === undefined ? {} : { reason }),
    retry: (run, node, body = {}) => command(ofNode(run, node, 'retry'), body),
    reset: (run, node) => command(ofNode(run, node, 'reset'), {}),
    rerun: (run, node, body = {}) => command(ofNode(run, node, 'rerun'), body),
    fork: (run, body) => command(ofRun(run, '/fork'), body),
    edit: (run, body) => command(ofRun(run, '/edits'), body),
    lineage: (run, page = {}) =>
      request({ method: 'GET', path: ofRun(run, '/lineage'), query: { ...page }, answer: lineage }),
    checkpoints: (run, page = {}) =>
      request({ method: 'GET', path: ofRun(run, '/checkpoints'), query: { ...page }, answer: checkpointList }),
    undo: (run, body) => request({ method: 'POST', path: ofRun(run, '/undo'), body, answer: undoReport }),
    rollback: (run, body) => request({ method: 'POST', path: ofRun(run, '/rollback'), body, answer: rollbackReport }),
    cancel: (run, node) => command(ofNode(run, node, 'cancel'), {}),
    signal: (run, name, payload = null) => command(ofRun(run, '/signals'), { name, payload }),
    events: (run, page = {}) =>
      request({ method: 'GET', path: ofRun(run, '/events'), query: { ...page, view: 'stored' }, answer: eventList }),
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
    tasks: (run, { status, ...filter } = {}) =>
      request({
        method: 'GET',
        path: ofRun(run, '/tasks'),
        query: { ...filter, status: status?.join(',') },
        answer: taskList,
      }),
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
    sessions: (page = {}) => request({ method: 'GET', path: '/api/sessions', query: { ...page }, answer: sessionList }),
    session: session => request({ method: 'GET', path: `/api/sessions/${session}`, answer: sessionDetail }),
    startSession: (body, { idempotencyKey } = {}) =>
      request({ method: 'POST', path: '/api/sessions', body, idempotencyKey, answer: startedSession }),
    answerGap: (session, gap, body) =>
      request({
        method: 'POST',
        path: `/api/sessions/${session}/gaps/${encodeURIComponent(gap)}/answer`,
        body,
        answer: sessionGap.pick({ gapId: true }),
      }),
    workflows: (page = {}) =>
      request({ method: 'GET', path: '/api/workflows', query: { ...page }, answer: workflowList }),
    workflow: workflow =>
      request({ method: 'GET', path: `/api/workflows/${encodeURIComponent(workflow)}`, answer: workflowDetail }),
    workflowForms: (workflow, pinned) =>
      request({
        method: 'GET',
        path: `/api/workflows/${encodeURIComponent(workflow)}/forms`,
        query: { pinned },
        answer: workflowForms,
      }),
    providers: () => request({ method: 'GET', path: '/api/providers', answer: providerList }),
    recoveries: () => request({ method: 'GET', path: '/api/recoveries', answer: recoveryList }),
    dismissRecovery: call =>
      request({
        method: 'POST',
        path: `/api/recoveries/${encodeURIComponent(call)}/dismiss`,
        body: {},
        answer: recoveryNote,
      }),
    settings: () => request({ method: 'GET', path: '/api/settings', answer: settings }),
    users: (page = {}) => request({ method: 'GET', path: '/api/users', query: { ...page }, answer: userList }),
    addUser: (name, terms = {}) =>
      request({ method: 'POST', path: '/api/users', body: { name, ...terms }, answer: addedUser }),
    rotateUser: (name, terms = {}) =>
      request({
        method: 'POST',
        path: `/api/users/${encodeURIComponent(name)}/rotate`,
        body: terms,
        answer: addedUser,
      }),
    newLink: () => request({ method: 'POST', path: '/api/links', body: {}, answer: oneTimeLink }),
    removeUser: name => request({ method: 'DELETE', path: `/api/users/${encodeURIComponent(name)}`, answer: wireUser }),
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
