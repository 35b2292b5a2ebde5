import { statSync, writeFileSync } from 'node:fs';
import {
  createRunInspection,
  type ForkRequest,
  planPlaces,
  type RollbackRequest,
  type RunAction,
  type RunHost,
  type StartRequest,
  thisMachine,
} from '@signalbox/app/host';
import {
  type ApprovalId,
  type Clock,
  createIdSource,
  type EventId,
  err,
  failure,
  type Json,
  type LimitsView,
  type NodeStatus,
  ok,
  portableHasher,
  type RecoveryNote,
  type RunId,
  type RunStatus,
  runId,
  timestampOf,
} from '@signalbox/model';
import {
  type Decision,
  type EventDraft,
  hasRunEnded,
  type InternalEvent,
  type MemoryRuns,
  memoryRuns,
  type StreamChunk,
  type Task,
  type TaskId,
  type WriteSet,
} from '@signalbox/runs';
import { fakeClock, seededRng } from '@signalbox/testkit';
import { createActivity } from '../../app/src/agents/host-activity.ts';
import { createProviders } from '../../app/src/agents/providers.ts';
import { createRateLimitDesk, type RateLimitDesk } from '../../app/src/agents/rate-limit-desk.ts';
import { compareRuns } from '../../app/src/compare/compare-runs.ts';
import {
  asked,
  frame,
  hashOf,
  interval,
  key,
  newRun,
  set,
  startRun,
  task,
  type Writer,
} from '../../runs/test/builders.ts';

/** A node of a scripted plan. */
export interface ScriptNode {
  readonly id: string;
  readonly kind: string;
  readonly data?: { readonly [field: string]: Json };
  readonly children?: readonly ScriptNode[];
  readonly line?: number;
}

/** A run that does what a test says, step by step. Everything goes through the commits of the real port. */
interface ScriptedRun {
  readonly id: RunId;
  /** Renders a plan, with these statuses. */
  render(plan: ScriptNode, statuses?: Readonly<Record<string, NodeStatus>>): Promise<void>;
  status(node: string, to: NodeStatus, reason?: string): Promise<void>;
  loop(node: string, turn: number): Promise<void>;
  state(name: string, value: Json): Promise<void>;
  startTask(node: string): Promise<TaskId>;
  say(task: TaskId, ...texts: readonly string[]): Promise<void>;
  endTask(task: TaskId): Promise<void>;
  ask(node: string, proposal: Json, kind?: Decision['kind']): Promise<Decision>;
  propose(decision: Decision, proposal: Json): Promise<void>;
  become(status: RunStatus, fields?: { readonly stopReason?: string; readonly error?: string }): Promise<void>;
  answered(decision: ApprovalId): Promise<Decision>;
}

export interface ScriptedHost extends RunHost {
  readonly store: MemoryRuns;
  readonly activity: ReturnType<typeof createActivity>;
  /** Where calls of models are admitted. */
  readonly rateLimits: RateLimitDesk;
  readonly acted: readonly { readonly run: RunId; readonly action: RunAction; readonly by: string }[];
  readonly forked: readonly { readonly run: RunId; readonly request: ForkRequest; readonly by: string }[];
  readonly rolledBack: readonly { readonly run: RunId; readonly request: RollbackRequest; readonly by: string }[];
  begin(
    name: string,
    fields?: { readonly tags?: readonly string[]; readonly input?: Json; readonly directory?: string },
  ): Promise<ScriptedRun>;
  run(id: RunId): ScriptedRun;
}

/** A data directory that is not there. */
const NOWHERE = '/nowhere/signalbox';

/** The export of a run: more than a stream reads at once. */
export function bundleOf(run: string): string {
  return `bundle of ${run}\n`.repeat(10_000);
}

/** A host of runs without plans and without a disk. */
export function scriptedHost(clock: Clock = fakeClock()): ScriptedHost {
  const store = memoryRuns(portableHasher);
  const ids = createIdSource(clock, seededRng(7));
  const runs = new Map<RunId, { readonly run: ScriptedRun; readonly writer: Writer }>();
  const acted: { run: RunId; action: RunAction; by: string }[] = [];
  const forked: { run: RunId; request: ForkRequest; by: string }[] = [];
  const rolledBack: { run: RunId; request: RollbackRequest; by: string }[] = [];
  const started = new Map<string, RunId>();
  const activity = createActivity();
  const noTimers = { after: () => () => {} };
  const rateLimits = createRateLimitDesk({ clock, timers: noTimers, rng: seededRng(3) }, { tell: activity.tell });

  type Fields<Type extends InternalEvent['type']> = Omit<
    Extract<InternalEvent, { readonly type: Type }>,
    'v' | 'id' | 'runId' | 'seq' | 'ts' | 'type'
  >;
  function event<Type extends InternalEvent['type']>(type: Type, fields: Fields<Type>): EventDraft {
    const envelope = { id: ids.mint<EventId>(), ts: timestampOf(clock) };
    return { ...envelope, type, ...fields } as unknown as EventDraft;
  }
  const writes = (fields: Omit<WriteSet, 'at'>): WriteSet => ({ at: timestampOf(clock), ...fields });

  async function begin(
    name: string,
    { tags = [], input = null, correlationId, limits = {}, directory }: Partial<StartRequest> = {},
  ): Promise<ScriptedRun> {
    const writer = await startRun(
      { commit: (given, guard) => store.commit({ ...given, at: timestampOf(clock) }, guard) },
      newRun({
        name,
        tags: [...tags],
        input,
        limits,
        ...(correlationId !== undefined && { correlationId }),
        ...(directory !== undefined && { workingDirectory: directory }),
      }),
      ids.mint<RunId>(),
    );
    const run = scriptedRun(writer);
    runs.set(writer.run, { run, writer });
    return run;
  }

  function scriptedRun(writer: Writer): ScriptedRun {
    const id = writer.run;
    const tasks = new Map<TaskId, { task: Task; next: number }>();
    const statuses = new Map<string, NodeStatus>();
    let shown: readonly string[] = [];
    let frames = 0;
    let transitions = 0;

    const statusRow = (node: string, status: NodeStatus, fields: object = {}) =>
      interval('status', node, Math.max(frames, 0), set({ status, iteration: 0, ...fields }));

    return {
      id,
      async render(plan, given = {}) {
        const index = frames;
        const rows = rowsOf(plan);
        for (const [node, status] of Object.entries(given)) statuses.set(node, status);
        await writer.write(
          writes({
            run: { kind: 'change', change: { phase: 'EXECUTE' } },
            frame: frame(index, {
              at: timestampOf(clock),
              trigger: { kind: index === 0 ? 'start' : 'state' },
              mounted: rows.map(row => key(row.id)).filter(node => !shown.includes(node)),
            }),
            intervals: [
              ...rows.map(({ id: node, ...row }) => interval('node', node, index, set(row as unknown as Json))),
              ...shown
                .filter(node => !rows.some(row => row.id === node))
                .map(node => interval('node', node, index, { kind: 'gone' })),
              ...Object.entries(given).map(([node, status]) =>
                interval('status', node, index, set({ status, iteration: 0 })),
              ),
            ],
            events: [
              event('frame.committed', {
                frame: index,
                trigger: { kind: index === 0 ? 'start' : 'state' },
                mounted: rows.length,
                unmounted: 0,
                digest: hashOf(index),
              }),
            ],
          }),
        );
        shown = rows.map(row => row.id);
        frames += 1;
      },
      async status(node, to, reason) {
        const from = statuses.get(node) ?? 'idle';
        statuses.set(node, to);
        await writer.write(
          writes({
            intervals: [statusRow(node, to, reason === undefined ? {} : { reason })],
            events: [
              event('node.status', {
                node: key(node),
                frame: Math.max(frames - 1, 0),
                from,
                to,
                ...(reason !== undefined && { blockReason: reason }),
              }),
            ],
          }),
        );
      },
      async loop(node, turn) {
        await writer.write(
          writes({ intervals: [statusRow(node, 'running', { loop: { total: turn, base: 0, left: false } })] }),
        );
      },
      async state(name, value) {
        const index = transitions;
        transitions += 1;
        await writer.write(
          writes({
            intervals: [interval('state', name, frames, set(value))],
            transitions: [{ frame: frames, index, key: name, change: set(value), at: timestampOf(clock) }],
            events: [event('state.changed', { frame: frames, index, key: name })],
          }),
        );
      },
      async startTask(node) {
        const begun = task(id, {
          node: key(node),
          status: 'running',
          createdAt: timestampOf(clock),
          startedAt: timestampOf(clock),
        });
        tasks.set(begun.id, { task: begun, next: 0 });
        await writer.write(
          writes({
            tasks: [begun],
            events: [event('task.started', { task: begun.id, node: begun.node, iteration: 0, attempt: 1 })],
          }),
        );
        return begun.id;
      },
      async say(of, ...texts) {
        const known = tasks.get(of);
        if (known === undefined) throw new Error(`no task ${of}`);
        const stream = texts.map(
          (text): StreamChunk => ({
            task: of,
            index: known.next++,
            kind: 'token',
            payload: text,
            at: timestampOf(clock),
          }),
        );
        await store.commit(writes({ stream }), { run: id, version: 'any' });
      },
      async endTask(of) {
        const known = tasks.get(of);
        if (known === undefined) throw new Error(`no task ${of}`);
        const { node, iteration } = known.task;
        await writer.write(
          writes({
            tasks: [{ ...known.task, status: 'done', endedAt: timestampOf(clock) }],
            events: [event('task.ended', { task: of, node, iteration, attempt: 1, outcome: 'done', stale: false })],
          }),
        );
      },
      async ask(node, proposal, kind = 'command_exec') {
        const question = asked(id, {
          node: key(node),
          proposal,
          proposalHash: hashOf(proposal),
          kind,
          call: `${node}-${hashOf(proposal).slice(-8)}`,
          askedAt: timestampOf(clock),
        });
        const { proposalHash } = question;
        await writer.write(
          writes({
            decisions: [{ kind: 'ask', decision: question }],
            events: [event('decision.asked', { decision: question.id, node: key(node), kind, proposalHash })],
          }),
        );
        return { ...question, status: 'open' };
      },
      async propose({ id: decision }, proposal) {
        const proposalHash = hashOf(proposal);
        await writer.write(
          writes({
            decisions: [{ kind: 'propose', id: decision, proposal, proposalHash }],
            events: [event('decision.proposed', { decision, proposalHash })],
          }),
        );
      },
      async become(to, { stopReason, error } = {}) {
        const record = await store.run(id);
        const fault =
          error === undefined ? undefined : { class: 'terminal' as const, code: 'plan/task-failed', message: error };
        await writer.write(
          writes({
            run: {
              kind: 'change',
              change: {
                status: to,
                ...(to === 'completed' && { phase: 'DONE' as const, output: { done: true } }),
                ...(stopReason !== undefined && { stopReason }),
                ...(fault !== undefined && { error: fault }),
              },
            },
            events: [
              event('run.status', {
                from: record?.status ?? 'running',
                to,
                ...(stopReason !== undefined && { stopReason }),
                ...(fault !== undefined && { error: fault }),
              }),
            ],
          }),
        );
      },
      answered(decision) {
        const { promise, resolve } = Promise.withResolvers<Decision>();
        const look = async () => {
          const found = (await store.decision(decision))?.decision;
          if (found?.status !== 'answered') return;
          unsubscribe();
          resolve(found);
        };
        const unsubscribe = store.subscribe(id, () => void look());
        void look();
        return promise;
      },
    };
  }

  async function act(id: RunId, action: RunAction, by: string) {
    acted.push({ run: id, action, by });
    const known = runs.get(id);
    const record = await store.run(id);
    if (known === undefined || record === undefined) throw new Error(`no run ${id}`);
    if (hasRunEnded(record.status)) {
      const text = { message: `Run ${id} has ended.`, suggestion: 'Resume it.' };
      return { ok: false, error: failure('run/ended', text) } as const;
    }
    if (action.kind === 'signal') {
      const { name, payload } = action;
      await known.writer.write(writes({ events: [event('signal.received', { name, payload, by })] }));
      return ok(undefined);
    }
    if (action.kind === 'edit') {
      const { key: edited, reason } = action;
      await known.writer.write(writes({ events: [event('state.edited', { key: edited, frame: 0, by, reason })] }));
      return ok(undefined);
    }
    const node = 'node' in action ? { node: key(action.node) } : {};
    await known.writer.write(writes({ events: [event('operator.acted', { action: action.kind, by, ...node })] }));
    if (action.kind === 'pause') await known.run.become('paused');
    if (action.kind === 'stop' || action.kind === 'terminate') {
      await known.run.become('stopped', { stopReason: action.reason });
    }
    return ok(undefined);
  }

  return {
    store,
    compare: (a, b) => compareRuns({ reader: store, contents: store, dataDirectory: 'none', now: Date.now }, a, b),
    search: { find: async () => ok({ found: [], counts: {}, behind: 0 }) },
    reader: store,
    blobs: store,
    feed: store,
    providers: createProviders({ clock, rateLimits, activity, references: [] }),
    activity,
    rateLimits,
    bundles: {
      async export(run, file) {
        const { head } = (await store.run(run)) ?? {};
        if (head === undefined) throw new Error(`no run ${run}`);
        writeFileSync(file, bundleOf(run));
        return ok({ run, runs: 1, file, digest: head, bytes: statSync(file).size, head });
      },
      async import({ file }, by) {
        const from = runId.safeParse(file.split('/').at(-1));
        const record = from.success ? await store.run(from.data) : undefined;
        if (record === undefined)
          return err(failure('BUNDLE_INVALID_FORMAT', { message: by, suggestion: 'Take another.' }));
        const { id, head } = record;
        return ok({ run: id, runs: 1, from: { run: id, head }, bundle: head, packages: [] });
      },
    },
    inspection: createRunInspection({
      dataDirectory: NOWHERE,
      machine: thisMachine(),
      places: planPlaces({ dataDirectory: NOWHERE, roots: [] }),
      reader: store,
      drain: async () => {},
    }),
    redactions: {
      redact: async (id, { name = 'secret', dryRun = false }) =>
        ok({
          dryRun,
          name,
          runs: [{ run: id, records: [1], tokens: false }],
          blobs: 0,
          logs: 0,
          left: [],
          outside: ['backups'],
        }),
    },
    retention: {
      async keep(id, isKept, by) {
        const record = await store.run(id);
        if (record === undefined) throw new Error(`no run ${id}`);
        const { kept: _, ...rest } = record;
        return ok(isKept ? { ...rest, kept: { at: record.createdAt, by } } : rest);
      },
      collect: async ({ dryRun }) =>
        ok({
          dryRun,
          policy: { collapseAfterDays: 30, removeAfterDays: 90 },
          runs: [],
          collapsed: [],
          spared: [],
          folders: { count: 0, bytes: 0 },
          workspaces: { count: 0, bytes: 0 },
          sessions: { count: 0, bytes: 0 },
          blobs: { count: 2, bytes: 7 },
          bytes: 7,
        }),
    },
    acted,
    forked,
    rolledBack,
    begin,
    run(id) {
      const known = runs.get(id);
      if (known === undefined) throw new Error(`no run ${id}`);
      return known.run;
    },
    async fork(id, request, by) {
      forked.push({ run: id, request, by });
      const run = await begin(request.name ?? 'fork');
      return ok(run.id);
    },
    checkpoints: async () => ok([]),
    changes: async () => ok({ directories: [], unknown: [] }),
    tell: async () => ok({ message: 'message', task: 'task' as never }),
    undo: async (_, call, { kept }) =>
      ok({ paths: [call], lost: [], ...(kept === true && { conflicts: ['changed since'] }) }),
    async rollback(id, request, by) {
      rolledBack.push({ run: id, request, by });
      const report = {
        frame: 0,
        calls: [{ call: request.call, tool: 'write_file' }],
        paths: ['a.txt'],
        lost: [],
        effects: [],
      };
      return request.dryRun === true ? ok(report) : ok({ ...report, run: (await begin('fork')).id });
    },
    async start(request) {
      const before = started.get(request.idempotencyKey ?? '');
      if (before !== undefined) return ok(before);
      const run = await begin(request.name ?? 'scripted', request);
      if (request.idempotencyKey !== undefined) started.set(request.idempotencyKey, run.id);
      return ok(run.id);
    },
    async resume(id) {
      await runs.get(id)?.run.become('running');
      return ok(id);
    },
    act,
    async answer(decision, { resolution, proposalHash }, by) {
      const found = await store.decision(decision);
      if (found === undefined) throw new Error(`no decision ${decision}`);
      const committed = await store.commit(
        writes({
          decisions: [
            {
              kind: 'answer',
              id: decision,
              resolution,
              by,
              at: timestampOf(clock),
              ...(proposalHash !== undefined && { proposalHash: proposalHash as Decision['proposalHash'] }),
            },
          ],
          events: [event('decision.answered', { decision, resolution, by })],
        }),
        { run: found.run, version: 'any' },
      );
      if (!committed.ok) return committed;
      const after = await store.decision(decision);
      return ok((after ?? found).decision);
    },
    recoveries: recoveryBook(),
    limits: scriptedLimits(),
    storage: { standing: () => ({ status: 'ok' }), subscribe: () => () => {} },
    finished: () => undefined,
    driven: () => [...runs.keys()],
    async endOnceIdle() {},
    async rest() {},
    async close() {},
  };
}

function scriptedLimits(): RunHost['limits'] {
  let run: LimitsView['run'] = {};
  const view = (): LimitsView => ({ today: '2026-01-02', run, ceilings: [] });
  return {
    read: async () => view(),
    async change(scope, { maxTotalTokens }) {
      if (scope.scope === 'run' && typeof maxTotalTokens === 'number') run = { maxTotalTokens };
      return ok(view());
    },
  };
}

function recoveryBook(): RunHost['recoveries'] {
  const list: RecoveryNote[] = [];
  return {
    list: () => list,
    dismiss(id) {
      const index = list.findIndex(note => note.id === id);
      const [note] = index < 0 ? [] : list.splice(index, 1);
      if (note !== undefined) return ok(note);
      return err(failure('recovery/unknown', { message: `There is no recovery ${id}.`, suggestion: 'List them.' }));
    },
  };
}

interface Row {
  readonly id: string;
  readonly kind: string;
  readonly parent?: string;
  readonly index: number;
  readonly source: { readonly file: string; readonly line: number; readonly column: number };
  readonly data: { readonly [field: string]: Json };
}

function rowsOf(node: ScriptNode, parent?: string, index = 0): readonly Row[] {
  const source = { file: 'plans/release.tsx', line: node.line ?? 1, column: 3 };
  const row = {
    id: node.id,
    kind: node.kind,
    ...(parent !== undefined && { parent }),
    index,
    source,
    data: node.data ?? {},
  };
  return [row, ...(node.children ?? []).flatMap((child, place) => rowsOf(child, node.id, place))];
}
