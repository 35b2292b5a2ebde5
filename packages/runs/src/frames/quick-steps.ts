import { byMember, type Is, is, isCount, isJson, isText, listOf, record } from '../quick-checks.ts';
import type { PatchStep } from './change.ts';

const isPath = listOf(part => isText(part) || isCount(part));
const isSteps: Is = listOf(
  byMember('op', {
    set: record({ op: is('set'), path: isPath, value: isJson }),
    delete: record({ op: is('delete'), path: isPath }),
    splice: record({
      op: is('splice'),
      path: isPath,
      at: isCount,
      remove: isCount,
      insert: value => isText(value) || (Array.isArray(value) && isJson(value)),
    }),
  }),
);

/** Whether these are certainly the steps of a patch; if not, the schema decides. */
export function areKnownSteps(value: unknown): value is readonly PatchStep[] {
  return isSteps(value);
}
