import type { AgentRow } from '@signalbox/adapters/agents';
import {
  type AgentJob,
  type ErrorEnvelope,
  err,
  failure,
  ok,
  type Result,
  timestampOf,
  type WireAgent,
} from '@signalbox/model';
import type { TurnSurface } from '@signalbox/runs';
import type { Machine } from '../machine.ts';
import { openAgentChecks } from './agent-checks.ts';
import { missingKeys } from './agent-register.ts';
import { type AgentsDeskOptions, addAgent, findAgent, removeAgent } from './agents-desk.ts';
import type { InstallProgress } from './install-place.ts';

/**
 * The agents of this machine, for people who manage them from a page: installations and checks take minutes, so they run here and are
 * looked at.
 *
 * 1. An agent has at most one job at a time. The same job asked for again is the one under way; another one is refused.
 * 2. A job ends: by itself, when it is canceled, when its time is up, or when this is closed.
 * 3. Why a job failed is known until the agent's next one.
 */
export interface AgentJobs {
  list(): Result<readonly WireAgent[], ErrorEnvelope>;
  /** Begins to install an agent. */
  add(agent: string, by: string): Result<WireAgent, ErrorEnvelope>;
  /** Begins to check an agent that is installed. */
  check(agent: string, by: string): Result<WireAgent, ErrorEnvelope>;
  /** Resolves when nothing of the job is left. */
  cancel(agent: string): Promise<Result<WireAgent, ErrorEnvelope>>;
  remove(agent: string): Result<WireAgent, ErrorEnvelope>;
  /** Cancels every job. */
  close(): Promise<void>;
}

export interface AgentJobsOptions extends AgentsDeskOptions {
  readonly machine: Pick<Machine, 'clock' | 'timers'>;
  /** Offers agents that are checked the tools of their turns. */
  readonly turns?: TurnSurface | undefined;
  /** Removes secrets from what programs said. */
  clean?(text: string): string;
  /** How long an installation may take; 30 minutes if left out. */
  readonly addLimitMs?: number;
}

interface Job extends Omit<AgentJob, 'progress'> {
  progress?: () => InstallProgress;
  readonly cancel: AbortController;
  readonly done: Promise<void>;
}

type Problem = NonNullable<WireAgent['problem']>;

const ADD_LIMIT_MS = 1_800_000;
const MOST_JOBS = 4;

export function openAgentJobs(options: AgentJobsOptions): AgentJobs {
  const {
    dataDirectory,
    register,
    env,
    machine,
    turns,
    clean = (text: string) => text,
    addLimitMs = ADD_LIMIT_MS,
  } = options;
  const checks = openAgentChecks(dataDirectory);
  const jobs = new Map<string, Job>();
  const problems = new Map<string, Problem>();

  function begin(
    row: AgentRow,
    by: string,
    kind: AgentJob['kind'],
    work: (job: Job) => Promise<ErrorEnvelope | undefined>,
  ): Result<WireAgent, ErrorEnvelope> {
    const before = jobs.get(row.id);
    if (before?.kind === kind) return ok(shown(row));
    if (before !== undefined) return err(busy(`${row.title} is being ${words[before.kind]}.`));
    if (jobs.size >= MOST_JOBS) return err(busy(`${MOST_JOBS} agents are being installed or checked.`));
    const { promise: done, resolve } = Promise.withResolvers<void>();
    const job: Job = { kind, by, startedAt: timestampOf(machine.clock), cancel: new AbortController(), done };
    jobs.set(row.id, job);
    problems.delete(row.id);
    void work(job).then(error => {
      jobs.delete(row.id);
      if (error !== undefined && !job.cancel.signal.aborted) {
        const { code, message, suggestion } = error;
        problems.set(row.id, { kind, at: timestampOf(machine.clock), code, message: clean(message), suggestion });
      }
      resolve();
    });
    return ok(shown(row));
  }

  function shown(row: AgentRow): WireAgent {
    const { id, title, vendor, package: of, isTried, asking, reports, quirks } = row;
    const found = register.installed(row);
    const missing = missingOf(row, found !== undefined);
    const check = found && checks.last(id, found.version);
    const job = jobs.get(id);
    const problem = problems.get(id);
    return {
      ...{ id, title, vendor, isTried, asking, reports, quirks },
      ...(of && { package: of }),
      ...(found && { installed: { version: found.version, from: found.from } }),
      ...(missing !== undefined && { missing }),
      ...(check && { check }),
      ...(job && { job: shownJob(job) }),
      ...(problem && { problem }),
    };
  }

  function missingOf(row: AgentRow, isInstalled: boolean): string | undefined {
    if (!isInstalled)
      return row.package === undefined ? `The program ${JSON.stringify(row.start.file)} was not found.` : undefined;
    const keys = missingKeys(row, env);
    return keys === undefined ? undefined : `No key for its models is set: ${keys}.`;
  }

  function added(row: AgentRow) {
    return async (job: Job) => {
      const timeUp = new AbortController();
      const stop = machine.timers.after(addLimitMs, () => timeUp.abort());
      const signal = AbortSignal.any([job.cancel.signal, timeUp.signal]);
      const outcome = await addAgent(options, row.id, { signal, onBegin: progress => (job.progress = progress) });
      stop();
      if (!outcome.ok) return timeUp.signal.aborted ? tooSlow(row, addLimitMs) : outcome.error;
      checks.forget(row.id);
      return undefined;
    };
  }

  function checked(row: AgentRow, version: string) {
    return async ({ cancel: { signal } }: Job) => {
      // The model that agents are checked with is loaded when somebody asks for a check.
      const { doctorAgents } = await import('../agent-doctor/agent-doctor.ts');
      const [found] = await doctorAgents([row], { dataDirectory, register, env, turns, signal });
      if (found === undefined || signal.aborted) return undefined;
      const { name: _, ...check } = found;
      const checkedAt = timestampOf(machine.clock);
      checks.keep(row.id, version, { ...check, found: clean(check.found), checkedAt });
      return undefined;
    };
  }

  return {
    list() {
      const rows = register.rows();
      if (!rows.ok) return err(failure('agent/unknown', { message: rows.error, suggestion: 'Correct config.json.' }));
      return ok(rows.value.map(shown));
    },
    add(agent, by) {
      const row = findAgent(options, agent);
      return row.ok ? begin(row.value, by, 'add', added(row.value)) : row;
    },
    check(agent, by) {
      const row = findAgent(options, agent);
      if (!row.ok) return row;
      const installed = register.installed(row.value);
      if (installed === undefined) return err(notThere(row.value));
      return begin(row.value, by, 'check', checked(row.value, installed.version));
    },
    async cancel(agent) {
      const row = findAgent(options, agent);
      if (!row.ok) return row;
      const job = jobs.get(row.value.id);
      job?.cancel.abort();
      await job?.done;
      return ok(shown(row.value));
    },
    remove(agent) {
      const row = findAgent(options, agent);
      if (!row.ok) return row;
      const job = jobs.get(row.value.id);
      if (job !== undefined) return err(busy(`${row.value.title} is being ${words[job.kind]}.`));
      const removed = removeAgent(options, agent);
      if (!removed.ok) return removed;
      checks.forget(row.value.id);
      problems.delete(row.value.id);
      return ok(shown(row.value));
    },
    async close() {
      for (const { cancel } of jobs.values()) cancel.abort();
      await Promise.all([...jobs.values()].map(({ done }) => done));
    },
  };
}

const words = { add: 'installed', check: 'checked' } as const satisfies Record<AgentJob['kind'], string>;

function shownJob({ kind, by, startedAt, progress }: Job): AgentJob {
  return { kind, by, startedAt, ...(progress && { progress: progress() }) };
}

function busy(message: string): ErrorEnvelope {
  const suggestion = 'Wait until it is done, or cancel it.';
  return failure('agent/busy', { message, suggestion, retry: { kind: 'retryable_after_ms', afterMs: 5_000 } });
}

function notThere({ id, title, package: of }: AgentRow): ErrorEnvelope {
  const suggestion =
    of === undefined ? 'Correct its command in config.json.' : `Add it first: signalbox agents add ${id}`;
  return failure('agent/not-installed', { message: `${title} is not installed.`, suggestion });
}

function tooSlow({ title }: AgentRow, limitMs: number): ErrorEnvelope {
  return failure('agent/not-installed', {
    message: `${title} was not installed: npm took longer than ${Math.round(limitMs / 60_000)} minutes.`,
    suggestion: 'Check the network and the registry of npm, then try again.',
  });
}
