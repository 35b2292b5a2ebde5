import { type Digest, type ErrorEnvelope, ok, type Result } from '@signalbox/model';
import {
  type CompiledWorkflowSnapshotV1,
  derivePendingStep,
  type PreferenceBaselines,
  projectGaps,
  projectRunStatus,
  type ResumableSession,
  rankResumable,
} from '@signalbox/workflow';
import type { SessionReader, Tokens } from '../sessions/session-files.ts';
import { distinctWarnings, situationAt } from './place-answer.ts';
import type { ResumeAnswer, Warning } from './tool-answers.ts';
import type { ResumeInput } from './tool-inputs.ts';
import { lastArtifacts } from './walked-steps.ts';

/** The most likely runs that the person means, with a token for each. Read-only. */
export async function resumeCandidates(
  reader: SessionReader,
  tokens: Tokens,
  { query, gitBranch, gitHeadSha }: ResumeInput,
  baselines: PreferenceBaselines,
  driftOf: (compiled: CompiledWorkflowSnapshotV1, pinned: Digest) => Promise<readonly Warning[]>,
): Promise<Result<ResumeAnswer, ErrorEnvelope>> {
  const ids = reader.sessions();
  if (!ids.ok) return ids;
  const sessions: ResumableSession[] = [];
  const warnings: Warning[] = [];
  for (const sessionId of ids.value) {
    const read = reader.salvage(sessionId);
    if (!read.ok) return read;
    const { health, view } = read.value;
    sessions.push({ sessionId, health, events: view.events(), workflowName: hash => nameOf(reader, hash) });
    if (health !== 'healthy') {
      const message = `Session ${sessionId} is ${health} and was left out; check it with \`signalbox verify\`.`;
      warnings.push({ code: 'session_not_healthy', message });
    }
  }
  const candidates: ResumeAnswer['candidates'] = [];
  for (const ranked of rankResumable(sessions, { text: query, gitBranch, gitHeadSha })) {
    const { sessionId, runId, nodeId, whyMatched, snippet } = ranked;
    const place = { sessionId, runId, nodeId };
    const events = sessions.find(session => session.sessionId === sessionId)?.events ?? [];
    const situation = situationAt(reader, events, place, baselines);
    if (!situation.ok) {
      warnings.push({ code: 'run_not_readable', message: situation.error.message });
      continue;
    }
    const { compiled, dag, node, preferences, state } = situation.value;
    const { workflowHash } = node.data;
    warnings.push(...(await driftOf(compiled, workflowHash)));
    const stateToken = tokens.mint({ tokenKind: 'state', ...place, workflowHash });
    const stepId = derivePendingStep(state)?.stepId;
    const step = compiled.steps.find(each => each.stepId === stepId);
    const { workflowId, name } = compiled;
    const artifacts = lastArtifacts(reader, events, dag, nodeId);
    candidates.push({
      workflow: { workflowId, name, workflowHash },
      ...place,
      stateToken,
      status: projectRunStatus(dag, projectGaps(events), preferences, ref => stateOf(reader, ref)),
      pendingStep: step === undefined ? null : { stepId: step.stepId, title: step.title },
      whyMatched: [...whyMatched],
      snippet,
      ...(artifacts.ok && artifacts.value.length > 0 && { artifacts: [...artifacts.value] }),
      nextCall: { tool: 'continue_workflow', arguments: { intent: 'rehydrate', workflowId, stateToken } },
    });
  }
  const asked = [query, gitBranch, gitHeadSha].some(part => part !== undefined && part.trim() !== '');
  const isMatched = candidates.some(({ whyMatched }) => !whyMatched.includes('recency_fallback'));
  const unmatched = asked && !isMatched && candidates.length > 0 ? [NOTHING_MATCHED] : [];
  return ok({ candidates, warnings: [...unmatched, ...distinctWarnings(warnings)].slice(0, MAX_WARNINGS) });
}

const MAX_WARNINGS = 20;

const NOTHING_MATCHED: Warning = {
  code: 'nothing_matched',
  message:
    'No run matches what you asked for; these are only the latest runs. Ask the person before you continue one, or start a new run.',
};

function nameOf(reader: SessionReader, workflowHash: string): string | undefined {
  const workflow = reader.workflow(workflowHash as Digest);
  return workflow.ok ? workflow.value.name : undefined;
}

function stateOf(reader: SessionReader, ref: Digest) {
  const state = reader.state(ref);
  return state.ok ? state.value : undefined;
}
