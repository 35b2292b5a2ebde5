import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { dataDirectory, eventsOf, value, walk } from '../../../guided/test/support/guided-walk.ts';
import { verifyDirectory } from '../../src/verify-directory.ts';
import { openTools } from '../support/open-tools.ts';

interface FormatFile {
  readonly source: { readonly id: string };
  readonly routines?: readonly { readonly id: string }[];
}

const folder = new URL('../../../workflow/test/walk/files/', import.meta.url);
const files = readdirSync(folder).map(name => name.replace(/\.json$/, ''));
const context = { files: ['one', 'two'], rounds: 2, wanted: true, wide: true, isRisky: true };

/** A data directory whose project has the workflow of a file, and the routines it calls. */
function projectOf(name: string) {
  const { source, routines = [] } = JSON.parse(readFileSync(new URL(`${name}.json`, folder), 'utf8')) as FormatFile;
  const directory = dataDirectory();
  const workflows = path.join(directory, 'project');
  mkdirSync(path.join(workflows, 'routines'), { recursive: true });
  writeFileSync(path.join(workflows, 'workflow.json'), JSON.stringify(source));
  for (const [index, routine] of routines.entries()) {
    // A project's own routines are not in the namespace of those that come with the program.
    const own = JSON.stringify(routine).replace('"wr.routine-', '"team.routine-');
    writeFileSync(path.join(workflows, 'routines', `${index}.json`), own);
  }
  const tools = openTools(directory, { directories: [{ kind: 'project', directory: workflows }] });
  return { directory, tools, workflowId: source.id };
}

describe('[W168] a file in the published format, through the calls that an agent makes', () => {
  it.each(files)('%s is walked to its end, by what each answer says is next; its journal holds', async name => {
    const { directory, tools, workflowId } = projectOf(name);
    const preferences = { autonomy: 'full_auto_never_stop' } as const;
    const start = value(await tools.start({ workflowId, context, preferences, startKey: name }, 'person'));
    const { answers, last } = await walk(tools, start, { maxSteps: 100 });
    expect(last).toMatchObject({ isComplete: true, pending: null });
    expect(verifyDirectory(path.join(directory, 'sessions', start.sessionId))).toMatchObject({
      ok: true,
      value: { ok: true, health: 'healthy' },
    });

    // The same calls in another place are the same events: nothing comes from time, chance or the machine.
    const again = projectOf(name);
    cpSync(path.join(directory, 'keys'), path.join(again.directory, 'keys'), { recursive: true });
    const second = value(await again.tools.start({ workflowId, context, preferences, startKey: name }, 'person'));
    const twin = await walk(again.tools, second, { maxSteps: 100 });
    expect(JSON.stringify(twin.answers)).toBe(JSON.stringify(answers));
    expect(eventsOf(again.directory, second.sessionId)).toEqual(eventsOf(directory, start.sessionId));
  });
});
