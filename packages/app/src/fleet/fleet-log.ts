import {
  emptyFleet,
  type Fact,
  type FleetState,
  fleetState,
  foldFleet,
  stepFleet,
  fact as storedFact,
} from '@signalbox/fleet';
import { asJson, canonicalJson, type ProjectId } from '@signalbox/model';
import type { ProjectReader } from '@signalbox/runs';

/** What the log of a project results in: from the kept state if it fits, otherwise from the first record. */
export function readFleet(
  log: ProjectReader,
  project: ProjectId,
): { readonly state: FleetState; readonly records: number; readonly keptAt: number } {
  const row = log.project(project);
  if (row === undefined) return { state: emptyFleet, records: 0, keptAt: 0 };
  const kept = log.keptState(project);
  const parsed = kept === undefined ? undefined : fleetState.safeParse(kept.state);
  const [from, start] = parsed?.success === true && kept !== undefined ? [kept.records, parsed.data] : [0, emptyFleet];
  return { state: foldFleet(factsFrom(log, project, from), start), records: row.records, keptAt: from };
}

/** The facts of a log. */
export function* factsFrom(log: ProjectReader, project: ProjectId, from = 0): Iterable<Fact> {
  for (const { body } of log.projectFacts(project, from)) yield storedFact.parse(body.fact);
}

/** How the kept state of a project differs from what its facts lead to; undefined if it does not, or if there is none. */
export function keptStateFault(project: ProjectId, log: ProjectReader): string | undefined {
  const kept = log.keptState(project);
  if (kept === undefined) return undefined;
  let state = emptyFleet;
  let records = 0;
  for (const { body } of log.projectFacts(project, 0)) {
    if (records === kept.records) break;
    const parsed = storedFact.safeParse(body.fact);
    if (!parsed.success) return `record ${records} holds no fact that a fleet knows`;
    ({ state } = stepFleet(state, parsed.data));
    records += 1;
  }
  return canonicalJson(asJson(state)) === canonicalJson(kept.state)
    ? undefined
    : `the state that was kept after record ${kept.records} is not what the facts lead to`;
}
