import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { projectOf } from '@signalbox/app/runs';

/** Directories that plans may be started from in this process: the project it was started in, and the examples beside the sources. */
export function ownPlanRoots(): readonly string[] {
  const project = projectOf(process.cwd());
  const examples = fileURLToPath(new URL(EXAMPLES, import.meta.url));
  return [...(project === undefined ? [] : [project]), ...(hasExamples(examples) ? [examples] : [])];
}

/** From `src/serving`, and from `dist`. */
const EXAMPLES = import.meta.url.endsWith('.ts') ? '../../../../examples' : '../../../examples';

/** What is installed has no examples beside it; a directory of that name may be anybody's. */
function hasExamples(directory: string): boolean {
  return existsSync(`${directory}/02-hello/plan.tsx`) && existsSync(`${directory}/../packages/signalbox/package.json`);
}
