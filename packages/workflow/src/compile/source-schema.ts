import { isJsonObject, type Json, type JsonObject } from '@signalbox/model';
import * as z from 'zod';
import { sourceWorkflow } from './source-format.ts';

const SOURCE_SCHEMA_ID = 'urn:signalbox:schemas:workflow-source';

/** The JSON Schema of workflow files, from the schemas that the compiler reads them with, so that editors complete and check. */
export function sourceJsonSchema(): JsonObject {
  const schema = z.toJSONSchema(sourceWorkflow, { target: 'draft-2020-12', io: 'input' }) as JsonObject;
  return { ...(described(schema) as JsonObject), $id: SOURCE_SCHEMA_ID, title: 'Signalbox guided workflow' };
}

/** What the fields mean, by name; a name means the same wherever it occurs. */
const MEANINGS: Readonly<Record<string, string>> = {
  id: 'Of a workflow: namespace.name. Of a step: a-z, 0-9, _ and -.',
  name: 'For people.',
  description: 'What the workflow is for; agents choose by it.',
  version: 'A semantic version.',
  steps: 'What the agent does, in order; it sees one at a time.',
  title: 'Shown as the heading of the step.',
  prompt: 'What the agent is told. {{key}} reads the context.',
  promptBlocks: 'The prompt in sections: goal, constraints, procedure, outputRequired, verify.',
  templateCall: 'Replaced by the steps of a routine: wr.templates.routine.NAME, with its arguments.',
  agentRole: 'The stance that the agent takes in the step.',
  guidance: 'Advice, shown as bullets.',
  metaGuidance: 'Advice for the whole workflow, shown at its start and after a rehydrate.',
  preconditions: 'What must be true before a start.',
  clarificationPrompts: 'What to ask the person before a start.',
  requireConfirmation:
    'true: the person confirms the step in guided mode. {"kind":"human_approval"}: in every mode that can stop.',
  runCondition: 'The step is skipped unless it holds.',
  validationCriteria: 'Rules that the notes of the step must keep. Ask for evidence, not for a flag.',
  outputContract: 'The typed artifact that the step must hand in, such as wr.contracts.review_verdict.',
  assessments: 'Scales that steps refer to.',
  assessmentRefs: 'Assessments that the step must hand in.',
  assessmentConsequences: 'What a level leads to.',
  notesOptional: 'Whether the step passes without notes.',
  promptFragments: 'Parts of the prompt with a condition each.',
  parallelDelegations: 'Routines that subagents follow at the same time.',
  synthesis: 'Adds a step that brings the delegated results together.',
  audit: 'Adds a step that audits this one.',
  verification: 'Adds a step that verifies this one.',
  loop: 'How often the body runs.',
  body: 'The steps of the loop, or the id of a top-level step.',
  maxIterations: 'The most iterations; the loop blocks beyond them.',
  conditionSource: 'What decides about another iteration: an artifact of wr.contracts.loop_control.',
  loopId: 'The name by which artifacts mean this loop.',
  features: 'Text and probes that the compiler adds.',
  extensionPoints: 'Slots that a project binds to routines of its own.',
  recommendedPreferences: 'How far the agent should go by itself.',
  nonAssumableChoices: 'Kinds of choices that only the person makes.',
  functionDefinitions: 'Instructions with a name, to be referred to.',
};

/** Adds the meanings to every object's properties, and takes nothing away. */
function described(part: Json): Json {
  if (Array.isArray(part)) return part.map(described);
  if (!isJsonObject(part)) return part;
  return Object.fromEntries(
    Object.entries(part).map(([key, value]): [string, Json] => {
      if (key !== 'properties' || !isJsonObject(value)) return [key, described(value as Json)];
      const properties = Object.entries(value).map(([name, field]): [string, Json] => {
        const meaning = MEANINGS[name];
        const own = described(field as Json);
        return [name, meaning !== undefined && isJsonObject(own) ? { ...own, description: meaning } : own];
      });
      return [key, Object.fromEntries(properties)];
    }),
  );
}
