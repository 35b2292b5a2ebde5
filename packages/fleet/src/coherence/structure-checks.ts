import {
  type AgentEvent,
  type ArtifactEvent,
  type CoherenceIssueId,
  deriveId,
  type OptionDecisionEvent,
} from '@signalbox/model';
import type { ArtifactSource } from '../inner-facts.ts';
import type { CoherenceState } from './coherence-state.ts';

type Found = Extract<AgentEvent, { type: 'coherence' }>;

/** Layer 0: what can be told without reading anything. Each check is one look at an index. */
export function artifactFindings(
  state: CoherenceState,
  event: ArtifactEvent,
  readable: readonly string[],
  sources: readonly ArtifactSource[],
  fileConflictTicks: number,
  tick: number,
): readonly Found[] {
  return [
    ...fileConflicts(state, event, fileConflictTicks, tick),
    ...duplicates(state, event),
    ...dependencyViolations(event, readable, sources),
  ];
}

/** The places of an artifact: its file in the project, and its address. */
export function placesOf({ provenance, uri }: ArtifactEvent): readonly string[] {
  return [
    ...(provenance.sourcePath === undefined ? [] : [`file:${provenance.sourcePath}`]),
    ...(uri === undefined ? [] : [uri]),
  ];
}

function fileConflicts(
  state: CoherenceState,
  event: ArtifactEvent,
  withinTicks: number,
  tick: number,
): readonly Found[] {
  return (
    placesOf(event)
      .flatMap(place => {
        const last = state.files[place];
        if (last === undefined || last.agentId === event.agentId || tick - last.tick > withinTicks) return [];
        const [first, second] = [last.agentId, event.agentId].sort();
        return [
          found(event, ['file_conflict', place, first ?? '', second ?? ''], {
            title: `Two agents write ${place.replace(/^file:/, '')}`,
            description: `Agents ${last.agentId} and ${event.agentId} wrote it within ${tick - last.tick} ticks.`,
            category: 'contradiction',
            severity: 'high',
            artifactIds: [last.artifactId, event.artifactId],
            workstreams: [event.workstream],
          }),
        ];
      })
      // A file and its address are one conflict.
      .slice(0, 1)
  );
}

function duplicates(state: CoherenceState, event: ArtifactEvent): readonly Found[] {
  if (event.contentHash === undefined) return [];
  const other = state.contents[event.contentHash];
  if (other === undefined || other.workstream === event.workstream || other.artifactId === event.artifactId) return [];
  return [
    found(event, ['duplicate', ...[other.artifactId, event.artifactId].sort()], {
      title: `${event.name} is in two workstreams`,
      description: `Artifacts ${other.artifactId} (${other.workstream}) and ${event.artifactId} (${event.workstream}) have the same content.`,
      category: 'duplication',
      severity: 'low',
      artifactIds: [other.artifactId, event.artifactId],
      workstreams: [other.workstream, event.workstream],
    }),
  ];
}

function dependencyViolations(
  event: ArtifactEvent,
  readable: readonly string[],
  sources: readonly ArtifactSource[],
): readonly Found[] {
  return sources.flatMap(({ artifactId, workstream }) =>
    workstream === null || readable.includes(workstream)
      ? []
      : [
          found(event, ['dependency', event.artifactId, artifactId], {
            title: `${event.name} depends on ${workstream}`,
            description: `Agent ${event.agentId} may not read workstream ${workstream}, which artifact ${artifactId} is in.`,
            category: 'dependency_violation',
            severity: 'medium',
            artifactIds: [event.artifactId, artifactId],
            workstreams: [event.workstream, workstream],
          }),
        ],
  );
}

/** Open decisions of others that recommend something else about the same artifacts. */
export function decisionConflicts(
  state: CoherenceState,
  event: OptionDecisionEvent,
  workstream: string,
): readonly Found[] {
  const recommended = recommendationOf(event);
  if (recommended === undefined) return [];
  return Object.entries(state.options).flatMap(([id, other]) => {
    const shared = event.affectedArtifactIds.filter(artifact => other.artifactIds.includes(artifact));
    if (other.agentId === event.agentId || shared.length === 0 || other.recommended === recommended) return [];
    return [
      found(event, ['decision_conflict', ...[id, event.decisionId].sort()], {
        title: 'Two decisions about the same artifact disagree',
        description: `"${other.recommended}" and "${recommended}" are both recommended.`,
        category: 'contradiction',
        severity: 'high',
        artifactIds: shared,
        workstreams: [other.workstream, workstream],
      }),
    ];
  });
}

/** The label of the option that the agent recommends. */
export function recommendationOf({ options, recommendedOptionId }: OptionDecisionEvent): string | undefined {
  return options.find(({ id }) => id === recommendedOptionId)?.label;
}

interface Finding {
  readonly title: string;
  readonly description: string;
  readonly category: Found['category'];
  readonly severity: Found['severity'];
  readonly artifactIds: Found['affectedArtifactIds'];
  readonly workstreams: readonly string[];
}

function found(about: { readonly agentId: Found['agentId'] }, parts: readonly string[], finding: Finding): Found {
  return {
    type: 'coherence',
    agentId: about.agentId,
    issueId: deriveId<CoherenceIssueId>('coherence', ...parts),
    title: finding.title,
    description: finding.description,
    category: finding.category,
    severity: finding.severity,
    affectedWorkstreams: [...new Set(finding.workstreams)],
    affectedArtifactIds: [...new Set(finding.artifactIds)],
  };
}
