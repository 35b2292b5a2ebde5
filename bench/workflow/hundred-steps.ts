import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type StdioClient, stdioClient } from './stdio-client.ts';

export const STEPS = 100;

/** Puts the workflow `project.hundred` into a project directory. */
export function hundredSteps(cwd: string): void {
  const workflows = path.join(cwd, '.signalbox/workflows');
  mkdirSync(workflows, { recursive: true });
  const steps = Array.from({ length: STEPS }, (_, index) => ({
    id: `step-${index}`,
    title: `Step ${index}`,
    prompt: `Do the work of step ${index}. ${'Look at what is there before you change it. '.repeat(10)}`,
  }));
  const workflow = { id: 'project.hundred', name: 'Hundred', description: 'A hundred steps.', version: '1.0.0', steps };
  writeFileSync(path.join(workflows, 'hundred.json'), JSON.stringify(workflow));
}

/** A server on standard streams whose project, home and data are in one directory. */
export function serverIn(cwd: string, args: readonly string[]): Promise<StdioClient> {
  return stdioClient(args, { PATH: process.env.PATH, HOME: cwd, SIGNALBOX_DATA_DIR: path.join(cwd, 'data') }, cwd);
}
