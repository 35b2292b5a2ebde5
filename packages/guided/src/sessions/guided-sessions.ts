import type {
  CopyWorkflow,
  Digest,
  ErrorEnvelope,
  Json,
  Result,
  Rng,
  SavedWorkflow,
  SaveWorkflow,
  SessionId,
  WorkflowForms,
} from '@signalbox/model';
import type { Gap, GapAnswer } from '@signalbox/workflow';
import type { GuidedPorts } from '../ports.ts';
import { type GuidedRuns, openGuidedRuns } from '../runs/guided-runs.ts';
import { type CheckedWorkflow, checkSource } from '../workflows/workflow-check.ts';
import { copyWorkflow, saveWorkflow } from '../workflows/workflow-editing.ts';
import { workflowForms } from '../workflows/workflow-forms.ts';
import { openGuidedDesk, type WaitingGap } from './guided-desk.ts';
import { type DetailOptions, type SessionDetail, showSession } from './session-detail.ts';
import { openSessionFiles } from './session-files.ts';
import { openSessionIndex } from './session-index.ts';
import type { SessionSummary } from './session-summary.ts';

/** Guided sessions for people. Any number of processes may open it: reading takes no lock. */
export interface GuidedSessions {
  /** The sessions' runs, in the form of any run. */
  readonly runs: GuidedRuns;
  list(): Result<readonly SessionSummary[], ErrorEnvelope>;
  show(session: SessionId): Promise<Result<SessionDetail, ErrorEnvelope>>;
  /** Questions to the person, over all sessions. */
  waiting(): Result<readonly WaitingGap[], ErrorEnvelope>;
  /** By a prefix of the gap's id. An answer counts once; a second one returns the first. */
  answer(session: SessionId, gap: string, answer: GapAnswer): Promise<Result<Gap, ErrorEnvelope>>;
  /** The source, compiled and pinned forms of a workflow. */
  forms(workflow: string, pinned?: Digest): Promise<Result<WorkflowForms, ErrorEnvelope>>;
  /** Compiles a source for its author; a problem is an answer. */
  check(source: Json): Promise<CheckedWorkflow>;
  /** Into an own namespace, in the first place of the server. */
  copy(workflow: string, to: CopyWorkflow): Promise<Result<SavedWorkflow, ErrorEnvelope>>;
  /** Over the bytes that the caller has seen. */
  save(workflow: string, given: SaveWorkflow): Promise<Result<SavedWorkflow, ErrorEnvelope>>;
}

export interface GuidedSessionsOptions extends DetailOptions {
  readonly ports: GuidedPorts;
  readonly machine: { readonly rng: Rng };
}

export function openGuidedSessions(options: GuidedSessionsOptions): GuidedSessions {
  const index = openSessionIndex(options);
  const filesOptions = { ...options, rng: options.machine.rng };
  const files = openSessionFiles(filesOptions);
  const desk = openGuidedDesk(filesOptions, files);
  return {
    runs: openGuidedRuns({ index, desk, ...files, contractEvent: options.ports.contractEvent }),
    list: () => index.list(),
    show: session => showSession(options, session),
    waiting: () => desk.waiting(),
    forms: (workflow, pinned) => workflowForms(options, workflow, pinned),
    check: source => checkSource(source, { directories: options.directories, mode: 'strict' }),
    copy: (workflow, { newId }) => copyWorkflow(workflow, newId, options.directories),
    save: (workflow, given) => saveWorkflow(workflow, given, options.directories),
    async answer(session, given, answer) {
      const found = desk.find(session, given);
      return found.ok ? desk.answer(session, found.value.gap.gapId, answer) : found;
    },
  };
}
