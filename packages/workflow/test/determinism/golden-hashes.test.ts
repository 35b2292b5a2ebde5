import { readdirSync, readFileSync } from 'node:fs';
import { nodeHasher } from '@signalbox/journal';
import { portableHasher } from '@signalbox/model';
import { expect, it } from 'vitest';
import { type CompiledWorkflow, openWorkflowLibrary } from '../../src/index.ts';
import { compile } from '../compile/sources.ts';
import { runningAll, walkToEnd } from '../walk/generic-agent.ts';

/**
 * The hash of a workflow; then of the snapshots on the way to its end, and of the prompts that were shown there. A change of
 * any of them is a change of what sessions are pinned to, and is seen here before it is released.
 */
function lineOf(name: string, { snapshot, workflowHash }: CompiledWorkflow): string {
  const { snapshots, prompts } = walkToEnd(snapshot, workflowHash, { context: runningAll(snapshot) });
  const shown = [...prompts].map(([stepId, prompt]) => `${stepId}\0${prompt}`).join('\0');
  return [
    name,
    workflowHash,
    `${snapshots.length} snapshots ${nodeHasher(snapshots.join())}`,
    `${prompts.size} prompts ${nodeHasher(shown)}`,
  ].join('\n  ');
}

it('[W174] bundled workflows, and what a walk of each comes to, have the hashes that are kept', async () => {
  const { workflows } = await openWorkflowLibrary({ hasher: nodeHasher, places: [] }).discover();
  const lines = workflows.map(({ workflowId, compiled }) => {
    if (!compiled.ok) throw new Error(workflowId);
    return lineOf(workflowId, compiled.value);
  });
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('golden/bundled.txt');
});

it('[W174] files of the published format, and what a walk of each comes to, have the hashes that are kept', async () => {
  const folders = ['../walk/files/', '../compile/fields/'].map(folder => new URL(folder, import.meta.url));
  const lines = folders.flatMap(folder =>
    readdirSync(folder)
      .sort()
      .map(name => {
        const { source, routines = [] } = JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as {
          readonly source: unknown;
          readonly routines?: readonly unknown[];
        };
        const compiled = compile(source, { routines });
        if (!compiled.ok) throw new Error(name);
        expect(portableHasher(JSON.stringify(compiled.value.snapshot))).toBe(
          nodeHasher(JSON.stringify(compiled.value.snapshot)),
        );
        return lineOf(name, compiled.value);
      }),
  );
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('golden/files.txt');
});
