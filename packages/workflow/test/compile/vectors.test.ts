import { readFileSync } from 'node:fs';
import { nodeHasher } from '@signalbox/journal';
import { portableHasher } from '@signalbox/model';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { compileWorkflow, readRoutines } from '../../src/index.ts';

const vectorFile = z.strictObject({
  source: z.string(),
  vectors: z.array(
    z.strictObject({
      name: z.string(),
      source: z.json(),
      routines: z.array(z.json()),
      warnings: z.array(z.string()),
      workflowHash: z.string(),
    }),
  ),
});

const { vectors } = vectorFile.parse(
  JSON.parse(readFileSync(new URL('../../../../spec/vectors/workflow-hashes.json', import.meta.url), 'utf8')),
);

it.each(vectors)(
  '[W2] $name has the hash it always had, by either hasher',
  ({ source, routines, warnings, workflowHash }) => {
    for (const hasher of [portableHasher, nodeHasher]) {
      const compiled = compileWorkflow(source, {
        hasher,
        routines: readRoutines(routines),
        sourceKind: 'bundled',
        mode: 'load',
      });
      expect(compiled.ok && [compiled.value.workflowHash, compiled.value.warnings.map(each => each.code)]).toEqual([
        workflowHash,
        warnings,
      ]);
    }
  },
);
