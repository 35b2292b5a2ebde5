import { type ErrorEnvelope, failure } from '@signalbox/model';
import type * as z from 'zod';
import type { DescribedTool } from './tool-definitions.ts';

/** How many problems of one call are reported. */
const TOLD = 10;

/** The error for invalid arguments: which, why, and what the tool expects. Never quotes what was sent. */
export function inputFault(
  { name, template }: Pick<DescribedTool, 'name' | 'template'>,
  { issues }: z.ZodError,
): ErrorEnvelope<'VALIDATION_ERROR'> {
  const problems = issues
    .slice(0, TOLD)
    .map(({ path, message }) => ({ argument: pathText(path), problem: message.slice(0, 300) }));
  const more = issues.length > TOLD ? ` And ${issues.length - TOLD} more.` : '';
  const told = problems.map(({ argument, problem }) => `${argument}: ${problem}`).join('; ');
  return failure('VALIDATION_ERROR', {
    message: `${name} was not called: invalid arguments. ${told}.${more}`,
    suggestion: `Fix these arguments and call ${name} again, for example with ${JSON.stringify(template)}. Leave out what you do not need.`,
    details: { tool: name, problems },
  });
}

function pathText(path: readonly PropertyKey[]): string {
  return path.length === 0 ? 'the arguments' : path.map(part => String(part).slice(0, 60)).join('.');
}
