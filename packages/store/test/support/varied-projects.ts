import { Bug, type Json, type ProjectId, type Timestamp } from '@signalbox/model';
import type { ProjectDraft, ProjectRow, Thing } from '@signalbox/runs';
import type { Store } from '@signalbox/store';

export function projectNamed(digit: number): ProjectId {
  return `00000000-0000-7000-8000-00000000000${digit}` as ProjectId;
}

export function timeAt(second: number): Timestamp {
  return new Date(Date.UTC(2026, 10, 18, 12, 0, second)).toISOString() as Timestamp;
}

export function draftOf(second: number, fact: Json, things: readonly Thing[] = []): ProjectDraft {
  return { at: timeAt(second), who: 'system', fact, things };
}

export async function committed(store: Store, project: ProjectId, draft: ProjectDraft): Promise<ProjectRow> {
  const records = store.project(project)?.records ?? 0;
  const done = await store.commitToProject(draft, { project, records });
  if (!done.ok) throw new Bug(done.error.message);
  return done.value;
}

/** A project with things of every kind, one that changes, and one that is too large for its record. */
export async function variedProject(store: Store, project: ProjectId): Promise<void> {
  await committed(store, project, draftOf(0, { kind: 'configured' }));
  await committed(
    store,
    project,
    draftOf(1, { kind: 'agent_requested' }, [
      { kind: 'agent', id: 'a1', agent: 'a1', status: 'starting', value: { name: 'Maya' } },
      { kind: 'brief', id: 'a1', agent: 'a1', value: { text: 'x'.repeat(70_000) } },
    ]),
  );
  await committed(
    store,
    project,
    draftOf(2, { kind: 'agent_started' }, [
      { kind: 'agent', id: 'a1', agent: 'a1', status: 'running', value: { name: 'Maya' } },
      { kind: 'event', id: 'e1', agent: 'a1', status: 'lifecycle', value: { action: 'started' } },
      { kind: 'audit', id: '2.2', value: 'started' },
    ]),
  );
  const row = await committed(
    store,
    project,
    draftOf(3, { kind: 'event_received' }, [
      { kind: 'event', id: 'e2', agent: 'a1', status: 'decision', value: { summary: 'May I?' } },
      { kind: 'decision', id: 'd1', agent: 'a1', status: 'open', value: { summary: 'May I?' } },
    ]),
  );
  store.keepState(project, { records: row.records, head: row.head, state: { v: 1 } });
}
