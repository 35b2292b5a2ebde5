import type { Json } from '@signalbox/model';
import type { CompiledContract } from '../compiled-workflow.ts';
import type { Shape, ShapeField } from '../shape.ts';

/** A contract that a step can require: the artifact's shape, guidance for the agent, and a valid example. */
export type ContractPack = CompiledContract;

const text: Shape = { type: 'text', min: 1 };
const anyText: Shape = { type: 'text' };
const texts: Shape = { type: 'list', of: text };
const confidence: Shape = { type: 'one_of', values: ['high', 'medium', 'low'] };
const version1: Shape = { type: 'one_of', values: [1] };

const must = (name: string, shape: Shape): ShapeField => ({ name, required: true, shape });
const may = (name: string, shape: Shape): ShapeField => ({ name, required: false, shape });
const closed = (...fields: readonly ShapeField[]): Shape => ({ type: 'object', open: false, fields });
const open = (...fields: readonly ShapeField[]): Shape => ({ type: 'object', open: true, fields });

function pack(
  name: string,
  shape: Shape,
  guidance: readonly string[],
  example: Readonly<Record<string, Json>>,
): ContractPack {
  return {
    contractRef: `wr.contracts.${name}`,
    artifactKind: `wr.${name}`,
    shape,
    guidance: [`Give one artifact in output.artifacts with kind "wr.${name}".`, ...guidance],
    example: { kind: `wr.${name}`, ...example },
  };
}

/** Sorted by `contractRef`. */
export const contractPacks: readonly ContractPack[] = [
  pack(
    'assessment',
    closed(
      may('assessmentId', text),
      must('dimensions', {
        type: 'map',
        min: 1,
        of: { type: 'any_of', of: [text, closed(must('level', text), may('rationale', anyText))] },
      }),
      may('summary', anyText),
    ),
    [
      'dimensions: for each dimension of the assessment its level, or { level, rationale }.',
      'assessmentId: needed when the step asks for more than one assessment.',
    ],
    { dimensions: { confidence: { level: 'high', rationale: 'Reproduced twice with the same trace.' } } },
  ),
  pack(
    'capability_observation',
    closed(
      must('capability', { type: 'one_of', values: ['delegation', 'web_browsing'] }),
      must('result', { type: 'one_of', values: ['success', 'failure'] }),
      may('failureCode', { type: 'one_of', values: ['tool_missing', 'tool_error', 'policy_blocked', 'unknown'] }),
      must('evidence', { type: 'text', min: 10 }),
    ),
    [
      'result: "success" only if you used the capability just now and it worked; else "failure" and a failureCode.',
      'failureCode: "tool_missing" | "tool_error" | "policy_blocked" | "unknown".',
      'evidence: what you called and what came back, in a sentence.',
    ],
    { capability: 'web_browsing', result: 'success', evidence: 'Fetched the index page of the documentation.' },
  ),
  pack(
    'coding_handoff',
    closed(
      must('version', version1),
      may('branchName', text),
      must('keyDecisions', texts),
      must('knownLimitations', texts),
      must('testsAdded', texts),
      must('filesChanged', texts),
      may('correctedAssumptions', { type: 'list', of: closed(must('assumed', text), must('actual', text)) }),
    ),
    [
      'version: 1.',
      'keyDecisions, knownLimitations, testsAdded, filesChanged: lists of texts, empty where there is nothing.',
    ],
    {
      version: 1,
      branchName: 'fix/parse-offsets',
      keyDecisions: ['Offsets are parsed once, at the boundary.'],
      knownLimitations: [],
      testsAdded: ['src/offset.test.ts'],
      filesChanged: ['src/offset.ts'],
    },
  ),
  pack(
    'differentiation_handoff',
    closed(
      must('version', version1),
      must('schemaVersion', { type: 'one_of', values: ['1.0.0'] }),
      must('generatedAt', text),
      must('evidenceFreshness', closed(must('oldestCapturedAt', text), must('newestCapturedAt', text))),
      must('validationChecklist', texts),
      must(
        'shapingHandoff',
        closed(
          must('rawIdea', text),
          must('problem', text),
          must('baseline', text),
          must('appetiteHint', text),
          must('noGosHints', texts),
          must('constraints', { type: 'any' }),
          must('evidenceTopK', { type: 'list', of: { type: 'any' } }),
          must('defensibilityClaim', {
            type: 'any_of',
            of: [closed(must('power', text), must('cannibalization', text)), text],
          }),
        ),
      ),
    ),
    [
      'version: 1 and schemaVersion: "1.0.0".',
      'shapingHandoff: what the shaping of the idea starts from; every field is needed.',
      'defensibilityClaim: { power, cannibalization }, or a sentence.',
    ],
    {
      version: 1,
      schemaVersion: '1.0.0',
      generatedAt: '2026-01-01T00:00:00Z',
      evidenceFreshness: { oldestCapturedAt: '2025-12-01T00:00:00Z', newestCapturedAt: '2025-12-31T00:00:00Z' },
      validationChecklist: ['Every claim has a source.'],
      shapingHandoff: {
        rawIdea: 'Offline review of long documents',
        problem: 'Reviewers lose their place when the connection drops.',
        baseline: 'They copy the text into an editor.',
        appetiteHint: 'two weeks',
        noGosHints: ['No new file format'],
        constraints: ['Works without a server'],
        evidenceTopK: ['Seven of ten reviewers named it.'],
        defensibilityClaim: {
          power: 'Switching costs',
          cannibalization: 'A rival would have to give up its own review server.',
        },
      },
    },
  ),
  pack(
    'discovery_handoff',
    closed(
      must('version', version1),
      must('selectedDirection', text),
      must('designDocPath', text),
      must('confidenceBand', confidence),
      must('keyInvariants', texts),
      may('rejectedDirections', { type: 'list', of: { type: 'any' } }),
      may('implementationConstraints', texts),
      may('keyCodebaseLocations', { type: 'list', of: { type: 'any' } }),
      may('selectionTier', text),
    ),
    ['version: 1.', 'confidenceBand: "high" | "medium" | "low".', 'keyInvariants: what must stay true, one text each.'],
    {
      version: 1,
      selectedDirection: 'Read the log once and keep an index.',
      designDocPath: 'docs/index-design.md',
      confidenceBand: 'medium',
      keyInvariants: ['The log is never rewritten.'],
    },
  ),
  pack(
    'gate_verdict',
    closed(
      must('version', version1),
      must('verdict', { type: 'one_of', values: ['approved', 'rejected', 'uncertain'] }),
      must('confidence', confidence),
      must('rationale', { type: 'text', min: 20 }),
    ),
    [
      'version: 1.',
      'verdict: "approved" | "rejected" | "uncertain".',
      'confidence: "high" | "medium" | "low".',
      'rationale: at least 20 characters; name the evidence.',
    ],
    {
      version: 1,
      verdict: 'approved',
      confidence: 'high',
      rationale: 'All three checks ran and passed on the branch.',
    },
  ),
  pack(
    'loop_control',
    closed(
      may('loopId', text),
      must('decision', { type: 'one_of', values: ['continue', 'stop'] }),
      may('summary', anyText),
      may(
        'metadata',
        closed(
          may('reason', anyText),
          may('issuesFound', { type: 'integer', min: 0 }),
          may('iterationIndex', { type: 'integer', min: 0 }),
          may('confidence', { type: 'number', min: 0, max: 100 }),
        ),
      ),
    ),
    [
      'decision: "continue" for another iteration, "stop" to leave the loop.',
      'loopId: may be left out; if you give it, it names the innermost loop you are in.',
      'summary: why, in a sentence or two.',
    ],
    { decision: 'stop', summary: 'The second review found nothing that blocks.' },
  ),
  pack(
    'review_verdict',
    closed(
      must('verdict', { type: 'one_of', values: ['clean', 'minor', 'blocking'] }),
      must('confidence', confidence),
      must('findings', {
        type: 'list',
        of: open(
          must('severity', { type: 'one_of', values: ['critical', 'major', 'minor', 'nit'] }),
          must('summary', text),
          may('findingCategory', text),
        ),
      }),
      must('summary', text),
    ),
    [
      'verdict: "clean" | "minor" | "blocking".',
      'confidence: "high" | "medium" | "low".',
      'findings: a list of { severity: "critical" | "major" | "minor" | "nit", summary }, empty when clean.',
      'summary: the review in two or three sentences.',
    ],
    {
      verdict: 'minor',
      confidence: 'high',
      findings: [{ severity: 'minor', summary: 'src/retry.ts:41 ignores the limit when it is 0.' }],
      summary: 'One edge case is open; nothing blocks.',
    },
  ),
  pack(
    'shaping_handoff',
    closed(
      must('version', version1),
      must('pitchPath', text),
      must('selectedShape', text),
      must('appetite', text),
      must('keyConstraints', texts),
      must('rabbitHoles', texts),
      must('outOfScope', texts),
      must('validationChecklist', texts),
    ),
    ['version: 1.', 'keyConstraints, rabbitHoles, outOfScope, validationChecklist: lists of texts.'],
    {
      version: 1,
      pitchPath: 'docs/pitch.md',
      selectedShape: 'One list with saved filters',
      appetite: 'one week',
      keyConstraints: ['No change of the store'],
      rabbitHoles: ['Full-text search'],
      outOfScope: ['Sharing filters'],
      validationChecklist: ['A filter survives a restart.'],
    },
  ),
];

const byRef = new Map(contractPacks.map(each => [each.contractRef, each]));

export function contractPack(contractRef: string): ContractPack | undefined {
  return byRef.get(contractRef);
}
