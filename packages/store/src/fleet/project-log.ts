import { err, ok, type ProjectId } from '@signalbox/model';
import {
  type ProjectLog,
  type ProjectReader,
  planProjectCommit,
  refusedByProject,
  type SealPorts,
} from '@signalbox/runs';
import type { GroupCommit } from '../runs/group-commit.ts';
import type { ProjectRows } from './project-rows.ts';

/** The logs of projects, written by the group commit of all runs. */
export function projectLog(rows: ProjectRows, group: Pick<GroupCommit, 'join'>, ports: SealPorts): ProjectLog {
  const listeners = new Set<(project: ProjectId) => void>();
  return {
    ...projectReader(rows),
    onProjectCommit(listener) {
      const own = (project: ProjectId) => listener(project);
      listeners.add(own);
      return () => listeners.delete(own);
    },
    async commitToProject(draft, guard) {
      const { project } = guard;
      const refused = (why: string) => refusedByProject(project, why);
      const done = await group.join({ name: `project ${project}`, details: { project }, refused }, () => {
        const found = rows.find(project);
        const planned = planProjectCommit(found?.row, draft, guard, ports);
        if (!planned.ok) return err(planned.error);
        const { row, record } = planned.value;
        rows.append(found, row, record, draft.things);
        return ok(row);
      });
      if (done.ok) for (const listener of listeners) listener(project);
      return done;
    },
    keepState(project, state) {
      const found = rows.find(project);
      if (found !== undefined) rows.keepState(found.n, state);
    },
  };
}

export function projectReader(rows: ProjectRows): ProjectReader {
  return {
    projects: () => rows.all().map(({ row }) => row),
    project: id => rows.find(id)?.row,
    projectRecords(project, from, limit) {
      const found = rows.find(project);
      return found === undefined ? [] : [...rows.records(found.n, from, limit)];
    },
    *projectFacts(project, from) {
      const found = rows.find(project);
      if (found === undefined) return;
      for (let n = from; ; ) {
        // A page at a time: an open statement would hold the database while a fact is worked on.
        const page = [...rows.records(found.n, n, PAGE)];
        for (const record of page) yield rows.open(record, n++);
        if (page.length < PAGE) return;
      }
    },
    things(project, filter) {
      const found = rows.find(project);
      return found === undefined ? [] : rows.things(found.n, filter);
    },
    keptState(project) {
      const found = rows.find(project);
      return found && rows.keptState(found.n);
    },
  };
}

const PAGE = 500;
