import { isCertainlyClean, type SecretFilter } from '@signalbox/model';
import type { ProjectLog } from './project-log.ts';

/** Redacts every fact and thing before it is committed. Whoever folds facts folds the redacted ones, so it filters them first (R42). */
export function redactingProjects(
  { commitToProject }: Pick<ProjectLog, 'commitToProject'>,
  filter: Pick<SecretFilter, 'data' | 'has'>,
): Pick<ProjectLog, 'commitToProject'> {
  return {
    commitToProject(draft, guard) {
      const { fact, things } = draft;
      if (isCertainlyClean(filter, { fact, things })) return commitToProject(draft, guard);
      return commitToProject({ ...draft, ...filter.data({ fact, things }) }, guard);
    },
  };
}
