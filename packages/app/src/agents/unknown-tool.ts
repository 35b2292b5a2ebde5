import { didYouMean } from '@signalbox/model';
import { builtinToolNames } from '@signalbox/plan';
import type { Assignment, TaskError } from '@signalbox/runs';

/** A plan that names a tool that is not there means another one: an agent without it would do something else. */
export function unknownTool({
  allow = [],
  deny = [],
  own = [],
}: NonNullable<Assignment['tools']>): TaskError | undefined {
  const known = [...builtinToolNames, ...own.map(({ name }) => name)];
  const name = [...allow, ...deny].find(one => !known.includes(one));
  if (name === undefined) return undefined;
  const message = `The plan names a tool "${name}" that does not exist.${didYouMean(name, known)}`;
  return { class: 'terminal', code: 'tool-unknown', message };
}
