import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { modePresets } from '@signalbox/workflow';
import { describe, expect, it } from 'vitest';
import { dataDirectory, filesUnder, writeWorkflow } from './support/guided-walk.ts';
import { openTools } from './support/open-tools.ts';

/** Files with every construct of the published format. */
const folder = new URL('../../workflow/test/walk/files/', import.meta.url);

describe('an agent that only sends back what answers say', () => {
  it.each(readdirSync(folder))('[G113] does not get past the first step of %s, in any mode', async name => {
    const { source, routines = [] } = JSON.parse(readFileSync(new URL(name, folder), 'utf8'));
    for (const preferences of Object.values(modePresets)) {
      const [flows, directory] = [dataDirectory(), dataDirectory()];
      writeWorkflow(flows, name, source);
      mkdirSync(path.join(flows, 'routines'));
      for (const [index, routine] of routines.entries()) {
        writeWorkflow(path.join(flows, 'routines'), `${index}.json`, {
          ...routine,
          id: routine.id.replace(/^wr\./, 'project.'),
        });
      }
      const tools = openTools(directory, { directories: [{ kind: 'project', directory: flows }], preferences });
      const start = await tools.start({ workflowId: source.id });
      // Some files need a context; an agent without it is told so, and has nothing to send back.
      if (!start.ok) {
        expect(start.error.code).toBe('VALIDATION_ERROR');
        continue;
      }
      const before = filesUnder(directory);
      for (let call = 0; call < 3 && start.value.nextCall !== null; call++) {
        const sent = await tools.continue(start.value.nextCall.arguments as never);
        expect(sent.ok ? sent.value.kind : sent.error.code).toBe('VALIDATION_ERROR');
      }
      expect(filesUnder(directory)).toEqual(before);
    }
  });
});
