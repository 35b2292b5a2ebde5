import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { projectOf } from '@signalbox/app/host';

/** Directories that plans may be started from in this process: its project, and the examples of a checkout. */
export function ownPlanRoots(): readonly string[] {
  const project = projectOf(process.cwd());
  const examples = fileURLToPath(new URL(EXAMPLES, import.meta.url));
  return [...(project === undefined ? [] : [project]), ...(hasExamples(examples) ? [examples] : [])];
}

/** From `src/serving`, and from `dist`. */
const EXAMPLES = import.meta.url.endsWith('.ts') ? '../../../../examples' : '../../../examples';

/** An installed package has no examples; a directory of that name could be anyone's. */
function hasExamples(directory: string): boolean {
  return existsSync(`${directory}/02-hello/plan.tsx`) && existsSync(`${directory}/../packages/signalbox/package.json`);
}
