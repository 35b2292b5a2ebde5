import { addContract, type Compilation, takeId } from './compilation.ts';
import type { CompiledStep } from './compiled-workflow.ts';
import { finishedText } from './prompt-text.ts';
import type { SourceParallelStep, SourceStandardStep } from './source-format.ts';
import type { Surroundings } from './template-pass.ts';

/** The steps derived from a step, in this order: synthesis, audit, verification. */
export function derivedSteps(
  compilation: Compilation,
  of: CompiledStep,
  source: SourceStandardStep | SourceParallelStep,
  { place, slots }: Surroundings,
): readonly CompiledStep[] {
  const finish = (text: string, at: string) => finishedText(text, slots, at, compilation.problems);
  const steps: CompiledStep[] = [];

  const synthesis = source.type === 'parallel' ? source.synthesis : undefined;
  if (synthesis !== undefined) {
    const contract = synthesis.outputContract;
    const known =
      contract !== undefined && addContract(compilation, contract.contractRef, place(contract, 'contractRef'));
    add('synthesis', `${of.title}: synthesis`, place(source, 'synthesis'), {
      prompt:
        synthesis.prompt === undefined
          ? `Bring together what the subagents of "${of.title}" returned: what they agree on, where they differ and which evidence decides it, what none of them looked at. Then state the conclusion in your own words.`
          : finish(synthesis.prompt, place(synthesis, 'prompt')),
      output: known ? { contractRef: contract.contractRef, required: contract.required ?? true } : undefined,
    });
  }

  const { audit, verification } = source;
  if (audit !== undefined) {
    const rubric = audit.rubric?.map((line, index) => `- ${finish(line, place(audit.rubric ?? [], index))}`);
    const prompt =
      audit.prompt === undefined
        ? `Audit the result of "${of.title}" as if somebody else had made it. Look at the work itself, not at the notes about it.`
        : finish(audit.prompt, place(audit, 'prompt'));
    add('audit', `${of.title}: audit`, place(source, 'audit'), {
      prompt:
        rubric === undefined || rubric.length === 0
          ? prompt
          : `${prompt}\n\nJudge by each of these, with evidence:\n${rubric.join('\n')}`,
    });
  }

  if (verification !== undefined) {
    const prompt =
      verification.prompt === undefined
        ? `Verify the result of "${of.title}".`
        : finish(verification.prompt, place(verification, 'prompt'));
    const command =
      verification.command === undefined ? undefined : finish(verification.command, place(verification, 'command'));
    add('verification', `${of.title}: verification`, place(source, 'verification'), {
      prompt:
        command === undefined
          ? prompt
          : `${prompt}\n\nRun this command and put its exit code and the end of its output into your notes:\n\n    ${command.split('\n').join('\n    ')}`,
    });
  }
  return steps;

  function add(
    kind: 'synthesis' | 'audit' | 'verification',
    title: string,
    at: string,
    parts: { readonly prompt: string; readonly output?: CompiledStep['output'] },
  ): void {
    const stepId = `${of.stepId}__${kind}`;
    takeId(compilation, stepId, at);
    steps.push({
      stepId,
      sourceId: `${of.sourceId}__${kind}`,
      title,
      kind,
      derivedFrom: of.stepId,
      loops: of.loops,
      prompt: parts.prompt,
      fragments: [],
      agentRole: of.agentRole,
      modelTier: of.modelTier,
      guidance: [],
      askForFiles: false,
      hasValidation: false,
      confirmation: { kind: 'none' },
      runConditionId: of.runConditionId,
      output: parts.output,
      assessmentRefs: [],
      assessmentConsequences: [],
      notesRequired: parts.output === undefined,
      nonAssumableChoices: of.nonAssumableChoices,
      functions: [],
      functionCalls: [],
      delegations: [],
      provenance: of.provenance,
      injections: [],
    });
  }
}
