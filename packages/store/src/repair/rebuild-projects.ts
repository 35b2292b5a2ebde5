import { Bug, type ProjectId } from '@signalbox/model';
import type { Cell } from '../sqlite/row-codec.ts';
import { checkProjects, type ProjectCheck, replayProject, tablesOfProjects } from '../verify/check-project.ts';
import type { LogDefect } from '../verify/check-run.ts';
import type { ReplayPorts } from '../verify/replay-log.ts';
import { rowsOf } from '../verify/row-differences.ts';

/** The same as for runs. */
export interface ProjectRebuild {
  readonly projects: number;
  readonly rebuilt: readonly ProjectId[];
  readonly damaged: readonly DefectiveProject[];
  readonly removed: readonly string[];
  readonly missing: readonly DefectiveProject[];
}

interface DefectiveProject {
  readonly project: ProjectId;
  readonly defect: LogDefect;
}

/** Rewrites the rows of projects that differ from their logs, in the open transaction, as `rebuildRows` does for runs (P1 to P3). */
export function rebuildProjects(ports: ReplayPorts): ProjectRebuild {
  const checks = [...checkProjects(ports)];
  const removed: string[] = [];
  for (const { n } of checks.filter(isNameless)) {
    for (const name of ['things', 'project_states']) {
      if (ports.database.prepare(`delete from ${name} where project = ?`).run(n).changes > 0)
        removed.push(`${name} of project number ${n}`);
    }
  }
  const named = checks.filter((check): check is NamedCheck => check.project !== undefined);
  const damaged = named.flatMap(({ project, defects }) => {
    const defect = defects.find(({ where }) => where === 'log');
    return defect === undefined ? [] : [{ project, defect }];
  });
  const left = new Set(damaged.map(({ project }) => project));
  const wrong = named.filter(({ project, defects }) => !left.has(project) && defects.some(isOfTable));
  for (const { n } of wrong) dropRows(ports, n);
  for (const { n } of wrong) copyRows(ports, n);
  const again =
    wrong.length === 0
      ? named
      : [...checkProjects(ports)].filter((one): one is NamedCheck => one.project !== undefined);
  const unmended = again.find(({ project, defects }) => !left.has(project) && defects.some(isOfTable));
  if (unmended !== undefined) throw new Bug(`project ${unmended.project} is not what was written`);
  const missing = again.flatMap(({ project, defects }) =>
    defects.filter(({ where }) => where === 'blob').map(defect => ({ project, defect })),
  );
  return { projects: named.length, rebuilt: wrong.map(({ project }) => project), damaged, removed, missing };
}

type NamedCheck = ProjectCheck & { readonly project: ProjectId };

/** Rows that neither a log nor the list of projects knows. */
function isNameless({ project, defects }: ProjectCheck): boolean {
  return project === undefined && defects.every(({ record }) => record === undefined);
}

function isOfTable({ where }: LogDefect): boolean {
  return where === 'table';
}

function dropRows({ database }: ReplayPorts, n: number): void {
  for (const { name, where } of tablesOfProjects.slice(1))
    database.prepare(`delete from ${name} where ${where}`).run(n);
}

function copyRows(ports: ReplayPorts, n: number): void {
  const replay = replayProject(ports, n);
  try {
    for (const table of tablesOfProjects.slice(1)) {
      const { name, columns } = table;
      const insert = ports.database.prepare(
        `insert into ${name} (${columns.join(', ')}) values (${columns.map(() => '?').join(', ')})`,
      );
      for (const row of rowsOf(table, n, replay.database)) insert.run(...columns.map(column => row[column] as Cell));
    }
  } finally {
    replay.database.close();
  }
}
