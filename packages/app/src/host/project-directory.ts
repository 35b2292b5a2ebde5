import path from 'node:path';
import { runId } from '@signalbox/model';
import { type RunReader, type RunRecord, type Spending, type SpendingFilter, sumSpending } from '@signalbox/runs';

/** The directory that a run is about: where its agents work, or, if it has a workspace, the origin of that. */
export function projectDirectoryOf({
  workingDirectory,
  workspace,
}: Pick<RunRecord, 'workingDirectory' | 'workspace'>): string | undefined {
  if (workingDirectory === undefined || workspace === undefined) return workingDirectory;
  const inside = path.relative(workspace.path, workingDirectory);
  const isOutside = inside.split(path.sep)[0] === '..' || path.isAbsolute(inside);
  return isOutside ? workingDirectory : path.join(workspace.base, inside);
}

/** Spending by the directories of the runs. */
export async function spendingByProject(
  reader: Pick<RunReader, 'spending' | 'run'>,
  filter: SpendingFilter,
): Promise<readonly Spending[]> {
  const spending = await reader.spending(filter);
  const places = new Set(spending.flatMap(({ directory }) => directory ?? []));
  const projects = new Map<string, string>();
  for (const place of places) projects.set(place, await projectOfPlace(reader, place));
  return sumSpending(
    spending.map(({ directory, ...spent }) =>
      directory === undefined ? spent : { ...spent, directory: projects.get(directory) ?? directory },
    ),
  );
}

/** A run's workspace is in a folder with its id. */
async function projectOfPlace(reader: Pick<RunReader, 'run'>, place: string): Promise<string> {
  const id = place
    .split(path.sep)
    .map(part => runId.safeParse(part))
    .find(({ success }) => success)?.data;
  const workspace = id === undefined ? undefined : (await reader.run(id))?.workspace;
  return projectDirectoryOf({ workingDirectory: place, workspace }) ?? place;
}
