import type {
  CheckpointAnswer,
  InspectAnswer,
  ListAnswer,
  ResumeAnswer,
  StepAnswer,
  Warning,
} from '@signalbox/app/guided';
import { callText } from './error-text.ts';

/** Answers as text, for clients that show an agent only text: it holds everything needed to continue. */
export const answerTexts = {
  list({ workflows, problems, omittedProblems, nextCall }: ListAnswer): string {
    const lines = workflows.flatMap(each => [
      `- ${each.workflowId}${each.isRoutine ? ' (routine)' : ''}: ${each.name} (${each.sourceKind})`,
      `  ${firstLine(each.description)}`,
      ...(each.suggestedId === undefined ? [] : [`  The id is a legacy one; it should become ${each.suggestedId}.`]),
      ...(each.workflowHash === undefined ? [`  CANNOT BE STARTED: ${each.refused}`] : []),
    ]);
    return paragraphs([
      workflows.length === 0 ? 'No workflows found here.' : `${counted(workflows.length)}:\n${lines.join('\n')}`,
      problems.length > 0 &&
        `Files that are not valid workflows:\n${problems.map(each => `- ${each.sourceRef} (${each.sourceKind}): ${each.message}`).join('\n')}${omittedProblems > 0 ? `\n- and ${omittedProblems} more` : ''}`,
      `Next call, with the id of a suitable workflow:\n${callText(nextCall.tool, nextCall.arguments)}`,
    ]);
  },

  inspect(answer: InspectAnswer): string {
    const { workflow, recommendations, capabilities, steps, nextCall } = answer;
    const recommended = Object.entries(recommendations).map(([name, value]) => `${name} ${value}`);
    const needs = [
      ...capabilities.required.map(each => `${each} (required)`),
      ...capabilities.preferred.map(each => `${each} (preferred)`),
    ];
    return paragraphs([
      `# ${workflow.name} ${answer.version}\nworkflow ${workflow.workflowId} (${answer.sourceKind}), ${workflow.workflowHash}`,
      answer.description,
      answer.canonicalId !== undefined && `Its id is now ${answer.canonicalId}.`,
      answer.suggestedId !== undefined && `The id is a legacy one; it should become ${answer.suggestedId}.`,
      listed('Before the start, make sure that:', answer.preconditions),
      listed('Ask the person:', answer.clarificationPrompts),
      recommended.length > 0 && `Recommended preferences: ${recommended.join(', ')}.`,
      needs.length > 0 && `Uses: ${needs.join(', ')}.`,
      listed(
        'References:',
        answer.references.map(each => `${each.title}: ${each.source}. ${each.purpose}`),
      ),
      listed(
        'Steps; each prompt is shown when its step is the current one:',
        (steps ?? []).map(each => `${each.title} (${[...each.loops, each.stepId].join(' / ')})`),
      ),
      warningsText(answer.warnings),
      `Next call:\n${callText(nextCall.tool, nextCall.arguments)}`,
    ]);
  },

  start: stepText,
  continue: stepText,

  checkpoint(answer: CheckpointAnswer): string {
    return paragraphs([
      placeText(answer),
      'Saved. The step is not finished: continue it.',
      pendingText(answer),
      answer.nextCall !== null &&
        `When it is done, hand it in with the new tokens. ${FILL_IN}\n${callText(answer.nextCall.tool, answer.nextCall.arguments)}`,
      gapsText(answer),
      warningsText(answer.warnings),
    ]);
  },

  resume({ candidates, warnings }: ResumeAnswer): string {
    return paragraphs([
      candidates.length === 0
        ? 'No session matches. Call resume_session with fewer words, or start a new run with start_workflow.'
        : warnings.some(({ code }) => code === 'nothing_matched')
          ? 'NO SESSION MATCHES. The latest ones, in case the person means one of them:'
          : 'Sessions that match, best first. If it is unclear which one is meant, ask the person; then make the call of that one.',
      ...candidates.map((each, index) =>
        [
          `${index + 1}. ${each.workflow.name} (workflow ${each.workflow.workflowId}, run ${each.runId}), ${each.status}`,
          `   ${each.pendingStep === null ? 'complete' : `at step: ${each.pendingStep.title} (${each.pendingStep.stepId})`}; ${each.whyMatched.join(', ')}`,
          ...(each.snippet === '' ? [] : [`   last notes: ${firstLine(each.snippet)}`]),
          ...(each.artifacts ?? []).map(artifact => `   last artifact: ${firstLine(artifact)}`),
          `   ${callText(each.nextCall.tool, each.nextCall.arguments)}`,
        ].join('\n'),
      ),
      warningsText(warnings),
    ]);
  },
} as const;

function stepText(answer: StepAnswer): string {
  const { nextCall } = answer;
  const call = nextCall === null ? '' : `\n${callText(nextCall.tool, nextCall.arguments)}`;
  return paragraphs([
    placeText(answer),
    answer.kind === 'blocked' &&
      `BLOCKED. Nothing moved: ${answer.pending?.title ?? 'the step'} is still the current step.`,
    answer.kind === 'blocked' ? blockersText(answer.blockers) : pendingText(answer),
    answer.kind === 'blocked' ? `${wayOnText(answer)}${call}` : `${intentText(answer)}${call}`,
    answer.kind === 'ok' && checkpointText(answer),
    answer.kind === 'ok' && outputsText(answer),
    // Blockers are recorded as gaps too, and were just listed.
    answer.kind === 'ok' && gapsText(answer),
    warningsText(answer.warnings),
  ]);
}

/** How to save unfinished work. */
function checkpointText({ checkpointToken, workflow }: StepAnswer): string | false {
  if (checkpointToken === undefined) return false;
  const call = { workflowId: workflow.workflowId, checkpointToken, notesMarkdown: '<notes to remember>' };
  return `To save unfinished work on the way:\n${callText('checkpoint_workflow', call)}`;
}

/** Precedes a call that is a template. */
const FILL_IN = 'Replace the parts in <angle brackets>, and leave the tokens unchanged:';

/** Names the workflow, run and step on the first line, so that several workflows in one chat can be told apart. */
function placeText({ workflow, runId, pending }: Pick<StepAnswer, 'workflow' | 'runId' | 'pending'>): string {
  return `workflow ${workflow.workflowId} (${workflow.name}), run ${runId}, ${pending === null ? 'complete' : `step ${pending.stepInstanceKey}`}`;
}

function pendingText({ pending }: Pick<StepAnswer, 'pending'>): string | false {
  return pending !== null && `# ${pending.title}\n\n${pending.prompt}`;
}

function intentText({ nextIntent, decision }: Pick<StepAnswer, 'nextIntent' | 'decision'>): string {
  switch (nextIntent) {
    case 'perform_pending_then_continue':
      return `Do this step now and nothing beyond it. When it is done, hand it in. ${FILL_IN}`;
    case 'await_user_confirmation':
      return `Stop: only a person can approve this step; your own word, or theirs in this chat, does not count. ${whereText(decision)} Hand in what you would do, before anything that cannot be undone: it stays blocked until they answer. Then rehydrate, do it, and hand it in. ${FILL_IN}`;
    case 'rehydrate_only':
      return 'Nothing can be handed in from this answer. Show the step again for fresh tokens:';
    case 'complete':
      return 'The workflow is complete. Tell the person the result; there is nothing left to call.';
  }
}

/** Where a person answers the decision about a step. */
function whereText(decision: StepAnswer['decision']): string {
  if (decision === undefined) return 'They answer in the console or with "signalbox approve".';
  const { decisionId, answerWith, consolePath, status } = decision;
  if (status === 'denied') return `They denied decision ${decisionId}.`;
  return `Decision ${decisionId} is in their queue: they answer with \`${answerWith}\` (or "deny"), or in the console at ${consolePath}.`;
}

function wayOnText(answer: StepAnswer): string {
  const open = answer.gaps.filter(({ reason }) => reason.startsWith('user_only_dependency:'));
  const commands = open.map(
    ({ gapId, reason }) => `\`signalbox approve ${gapId}${needsWords(reason) ? ' --value TEXT' : ''}\``,
  );
  const mend = isOfPerson(answer)
    ? `Fix what is listed above with the person: ask them and wait. They answer with ${commands.join(' and ') || '"signalbox approve"'}, with "deny", or in the console's queue; an answer only in the chat, or from you, does not count.`
    : 'Fix what is listed above.';
  return `Three things to do now:
1. ${mend}
2. Make the call below; it changes nothing and gives a fresh ackToken.
3. Hand the whole step in again with that ackToken; the old one only repeats this answer.`;
}

/** Whether the person answers in words, not with a yes. */
function needsWords(reason: string): boolean {
  return !/:needs_user_(approval|environment_action)$/.test(reason);
}

function isOfPerson({ blockers }: Pick<StepAnswer, 'blockers'>): boolean {
  return blockers.some(({ code }) => code === 'USER_ONLY_DEPENDENCY');
}

function blockersText(blockers: StepAnswer['blockers']): string {
  return blockers
    .map(({ code, message, suggestedFix, details }) => {
      const limit =
        details === undefined
          ? ''
          : ` (loop ${details.loopId}, iteration ${details.iteration} of ${details.maxIterations})`;
      return `- ${code}${limit}: ${message}${suggestedFix === undefined ? '' : `\n  How to fix it: ${suggestedFix}`}`;
    })
    .join('\n');
}

function outputsText({ outputs = [] }: Pick<StepAnswer, 'outputs'>): string | false {
  return listed(
    'Handed in earlier, newest last. To read one whole, rehydrate with its id in outputIds; to correct one, name its id in output.corrections.',
    outputs.map(({ stepInstanceKey, outputChannel, outputId, excerpt, content }) => {
      const whole = typeof content === 'string' ? content : JSON.stringify(content);
      const said = content === undefined ? excerpt : `\n${whole}`;
      return `${stepInstanceKey}, ${outputChannel === 'recap' ? 'notes' : 'artifact'} ${outputId}: ${said}`;
    }),
  );
}

function gapsText({ gaps, omittedGaps }: Pick<StepAnswer, 'gaps' | 'omittedGaps'>): string | false {
  const more = omittedGaps > 0 ? `\n- and ${omittedGaps} more` : '';
  return (
    gaps.length > 0 &&
    `Open gaps of this run. Those of this step close when it passes, except questions to the person: only their answer closes those. Tell the person about any that stay open:\n${gaps.map(each => `- ${each.severity} ${each.reason}: ${each.summary}`).join('\n')}${more}`
  );
}

function warningsText(warnings: readonly Warning[]): string | false {
  return listed(
    'Warnings:',
    warnings.map(each => each.message),
  );
}

function listed(heading: string, items: readonly string[]): string | false {
  return items.length > 0 && `${heading}\n${items.map(each => `- ${each}`).join('\n')}`;
}

function paragraphs(parts: readonly (string | false)[]): string {
  return parts.filter(part => part !== false && part !== '').join('\n\n');
}

function counted(workflows: number): string {
  return workflows === 1 ? '1 workflow' : `${workflows} workflows`;
}

function firstLine(text: string): string {
  const line = text.trim().split('\n', 1)[0] ?? '';
  return line.length > 300 ? `${line.slice(0, 299)}…` : line;
}
