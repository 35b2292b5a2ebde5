import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { expect, it } from 'vitest';
import { planText } from './support/open-host.ts';
import { openScriptedHome } from './support/open-scripted-home.ts';
import { temporaryFolder } from './temporary-folder.ts';

/** The official server for files. */
const FILES = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-filesystem/dist/index.js');
const approve = { resolutionType: 'approve', rationale: 'fine', actionKind: 'review' } as const;

const planOf = (allow: readonly string[]) =>
  planText(
    `<Agent id="agent" model="anthropic:claude-test" cwd="work" prompt="Do it." retries={0} tools={['read_file']}
       mcp={[{ command: [${JSON.stringify(process.execPath)}, ${JSON.stringify(FILES)}, '.'], prefix: 'fs', allow: ${JSON.stringify(allow)} }]}
       onFinished={said => ctx.state.set('said', said)} />`,
    'z.object({ said: z.any() })',
  );

it('[A1035] the official server for files, in a plan: its tool waits for a person, changes the directory, and is undone', async () => {
  const folder = temporaryFolder();
  const home = await openScriptedHome(
    folder,
    [
      { text: 'I write.', calls: [{ tool: 'fs_write_file', input: { path: 'a.txt', content: 'from a server' } }] },
      { text: 'I look.', calls: [{ tool: 'fs_read_text_file', input: { path: 'a.txt' } }] },
      { text: 'It is written.' },
    ],
    false,
  );
  const run = await home.start('plan', planOf(['write_file', 'read_text_file']));
  expect(await home.end(run)).toEqual({ status: 'waiting' });
  const file = path.join(folder, 'work', 'a.txt');
  expect(existsSync(file)).toBe(false);
  const [asked] = await home.store.decisions({ run });
  expect(asked?.decision.proposal).toMatchObject({ tool: 'fs_write_file', risk: 'high', effects: 'files' });
  await home.host.answer(asked?.decision.id as never, { resolution: approve }, 'ada');
  await home.host.resume(run);
  expect(await home.end(run)).toMatchObject({ status: 'completed' });
  expect(readFileSync(file, 'utf8')).toBe('from a server');
  const calls = await home.host.checkpoints(run);
  const wrote = calls.ok ? calls.value.find(({ tool }) => tool === 'fs_write_file') : undefined;
  expect(await home.host.undo(run, wrote?.call as never, {} as never, 'ada')).toMatchObject({ ok: true });
  expect(existsSync(file)).toBe(false);
});

it('[A1035] what lies outside of the directory is not there for it', async () => {
  const folder = temporaryFolder();
  const outside = path.join(folder, 'out.txt');
  const home = await openScriptedHome(folder, [
    { text: 'I look.', calls: [{ tool: 'fs_read_text_file', input: { path: outside } }] },
    { text: 'It is not there.' },
  ]);
  const run = await home.start('plan', planOf(['read_text_file']));
  expect(await home.end(run)).toMatchObject({ status: 'completed' });
  const [task] = await home.store.tasks(run);
  const chunks = await home.store.stream(run, task?.id as never, 0, 500);
  expect(JSON.stringify(chunks)).toMatch(/Access denied/);
});
