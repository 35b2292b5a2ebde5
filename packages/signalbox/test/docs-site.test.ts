import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { repositoryRoot } from '../../../scripts/local-program.ts';
import { blocksIn } from '../../../test/docs/markdown.ts';
import { entry, ownEnvironment, PATIENCE_MS, signalbox, temporaryFolder } from './program.ts';

const page = (name: string) => readFileSync(path.join(repositoryRoot, 'docs', name), 'utf8');

it('[X150] the site is built, with a page for each page of docs', () => {
  const out = mkdtempSync(path.join(repositoryRoot, 'node_modules/.cache/site-'));
  onTestFinished(() => rmSync(out, { recursive: true, force: true }));
  const built = spawnSync(process.execPath, ['scripts/docs.ts', 'build', '--outDir', out], {
    cwd: repositoryRoot,
    encoding: 'utf8',
    timeout: PATIENCE_MS,
  });
  expect([built.status, built.stderr]).toEqual([0, expect.not.stringContaining('dead link')]);
  const pages = readdirSync(path.join(repositoryRoot, 'docs'), { recursive: true, encoding: 'utf8' });
  const wanted = pages.filter(file => file.endsWith('.md') && !file.startsWith('.'));
  expect(wanted.length).toBeGreaterThan(40);
  expect(wanted.filter(file => !existsSync(path.join(out, file.replace(/\.md$/, '.html'))))).toEqual([]);
  const start = readFileSync(path.join(out, 'get-started.html'), 'utf8');
  for (const text of ['Get started', 'Book 6 days in Lisbon?', '/reference/plan-api', '/concepts']) {
    expect(start).toContain(text);
  }
  // Braces are text, in the pages and in the site around them.
  expect(start).not.toContain('{{ ');
  expect(readFileSync(path.join(out, 'workflow-format.html'), 'utf8')).toMatch(/(\{|&#123;){2}key\}\}/);
});

/** A plan as an agent writes it that has read the page and nothing else; the first time it forgets what the page warns of. */
const written = (
  isMended: boolean,
) => `import { Agent, definePlan, Each, Human, If, Parallel, Phase, Task, While } from 'signalbox';
import * as z from 'zod';

export default definePlan({
  name: 'survey',
  description: 'Asks about topics, sums them up until it is short, and publishes if a person agrees.',
  input: z.object({ topics: z.array(z.string()).default(['signals', 'boxes']) }),
  state: z.object({
    notes: z.record(z.string(), z.string()).default({}),
    summary: z.string().default(''),
    agreed: z.enum(['publish', 'drop']).optional(),
  }),
  render: ctx => {
    ${isMended ? 'const notes = Object.values(ctx.state.get("notes"));' : "ctx.state.set('summary', 'drafted');\n    const notes: string[] = [];"}
    return (
      <>
        <Phase name="gather">
          <Parallel limit={2}>
            <Each items={ctx.input.topics}>
              {topic => (
                <Task
                  key={topic}
                  id={\`gather-\${topic}\`}
                  run={() => \`About \${topic}.\`}
                  onFinished={text => ctx.state.update('notes', all => ({ ...all, [topic]: text }))}
                />
              )}
            </Each>
          </Parallel>
        </Phase>
        <Phase name="sum">
          <While id="until-it-is-short" condition={ctx.state.get('summary') === ''} maxIterations={3}>
            <Task id="sum" run={() => notes.sort().join(' ')} onFinished={text => ctx.state.set('summary', text)} />
          </While>
        </Phase>
        <Phase name="ask">
          <Human
            id="ask"
            prompt={\`Publish this? \${ctx.state.get('summary')}\`}
            options={[{ id: 'publish' }, { id: 'drop' }]}
            onFinished={chosen => ctx.state.set('agreed', chosen as 'publish' | 'drop')}
          />
        </Phase>
        <If condition={ctx.state.get('agreed') === 'publish'}>
          <Agent id="publish" model="scripted:publish.json" prompt={\`Publish: \${ctx.state.get('summary')}\`} maxTurns={2} />
        </If>
      </>
    );
  },
});
`;

const AUTHOR = `import { execFile } from 'node:child_process';
import { Agent, definePlan, If, Phase, Task, While } from 'signalbox';
import * as z from 'zod';

export default definePlan({
  name: 'author',
  state: z.object({ isClean: z.boolean().default(false), said: z.string().default('nothing yet') }),
  render: ctx => (
    <While id="until-it-is-clean" condition={!ctx.state.get('isClean')} maxIterations={5}>
      <Phase name="lint">
        <Task
          id="lint"
          run={() => linted()}
          onFinished={({ isClean, said }) => {
            ctx.state.set('isClean', isClean);
            ctx.state.set('said', said);
          }}
        />
      </Phase>
      <Phase name="write">
        <If condition={!ctx.state.get('isClean')}>
          <Agent
            id="write"
            model="scripted:author.json"
            tools={{ allow: ['read_file', 'write_file'] }}
            prompt={\`Read writing-plans.md. Write survey.tsx. The linter: \${ctx.state.get('said')}\`}
          />
        </If>
      </Phase>
    </While>
  ),
});

function linted(): Promise<{ isClean: boolean; said: string }> {
  const file = new URL('survey.tsx', import.meta.url).pathname;
  return new Promise(resolve =>
    execFile(process.execPath, [PROGRAM, 'lint', file, '--strict'], (error, stdout) =>
      resolve({ isClean: error === null, said: stdout }),
    ),
  );
}
`;

it('[X158] an agent with nothing but the page on writing plans writes one, mends what the linter names, and it runs', () => {
  const cwd = temporaryFolder();
  const write = (file: string, text: string) => writeFileSync(path.join(cwd, file), text);
  const text = page('writing-plans.md');
  const used = [written(true).matchAll(/<([A-Z]\w+)|\b(\w+)=\{|\bctx\.(\w+)/g)].flatMap(found =>
    [...found].map(([, element, prop, part]) => element ?? prop ?? part ?? ''),
  );
  expect(new Set(used).size).toBeGreaterThan(15);
  expect(used.filter(name => !text.includes(name))).toEqual([]);
  write('writing-plans.md', text);
  write('author.tsx', AUTHOR.replace('PROGRAM', JSON.stringify(entry)));
  const writing = (content: string) => [{ tool: 'write_file', input: { path: 'survey.tsx', content } }];
  write(
    'author.json',
    JSON.stringify({
      version: 1,
      rules: [
        { when: { toolResult: 'write_file' }, text: 'It is written.' },
        { when: { toolResult: 'read_file' }, text: 'I write it.', calls: writing(written(false)) },
        { when: { lastMatches: 'render-write|state.set' }, text: 'I mend it.', calls: writing(written(true)) },
        { when: { turn: 1 }, text: 'I read.', calls: [{ tool: 'read_file', input: { path: 'writing-plans.md' } }] },
      ],
    }),
  );
  write('publish.json', JSON.stringify({ version: 1, rules: [{ when: { turn: 1 }, text: 'It is published.' }] }));
  const authored = signalbox(['run', 'author.tsx'], { cwd });
  expect([authored.status, authored.stderr]).toEqual([0, '']);
  expect(authored.stdout.match(/✓ agent write/g)).toHaveLength(2);
  const run = signalbox(['run', 'survey.tsx'], { cwd });
  expect([run.status, run.stderr]).toEqual([3, '']);
  expect(run.stdout).toContain('About boxes. About signals.');
  const [, decision = ''] = /approve ([0-9a-f-]{36})/.exec(run.stdout) ?? [];
  expect(signalbox(['approve', decision, '--option', 'publish'], { cwd }).status).toBe(0);
  const resumed = signalbox(['resume', '@last'], { cwd });
  expect([resumed.status, resumed.stdout]).toEqual([0, expect.stringContaining('"agreed":"publish"')]);
});

it('[X157] the proxy of the page on deploying lets its own console in, and nobody else', async () => {
  const conf = blocksIn(page('deploying.md')).find(({ file }) => file === 'signalbox.conf')?.text ?? '';
  const [, allowed = ''] = /\$http_origin !~ "(.+)"/.exec(conf) ?? [];
  const set = new Map(
    [...conf.matchAll(/proxy_set_header (\w+) ([^$;]+);/g)].map(([, name = '', to = '']) => [name, to]),
  );
  expect([...set.keys()]).toEqual(['Host', 'Origin']);

  const cwd = temporaryFolder();
  const server = spawn(process.execPath, [entry, 'serve', '--port', '0', '--json'], {
    cwd,
    env: ownEnvironment(cwd),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise(resolve => server.once('close', resolve));
  onTestFinished(async () => {
    server.kill('SIGTERM');
    await ended;
  });
  const told = await new Promise<string>(resolve => server.stdout.setEncoding('utf8').once('data', resolve));
  const { url } = JSON.parse(told.split('\n')[0] ?? '');
  const { port } = new URL(url);
  const token = readFileSync(path.join(cwd, '.local/share/signalbox/token'), 'utf8').trim();

  // What nginx does with these lines, and nothing else.
  const headersFor = ({ headers }: IncomingMessage) => {
    const taken = [...set].map(([name, to]) => [name.toLowerCase(), to.replace('4280', port)]);
    return { ...headers, ...Object.fromEntries(taken) };
  };
  const isAllowed = ({ headers }: IncomingMessage) => new RegExp(allowed).test(headers.origin ?? '');
  const proxy = createServer((given, answer) => {
    if (!isAllowed(given)) return answer.writeHead(403).end();
    const passed = request({ port, method: given.method, path: given.url, headers: headersFor(given) }, from => {
      answer.writeHead(from.statusCode ?? 502, from.headers);
      from.pipe(answer);
    });
    given.pipe(passed);
    return undefined;
  });
  proxy.on('upgrade', (given, socket) => {
    if (!isAllowed(given)) return socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
    const passed = request({ port, path: given.url, headers: headersFor(given) });
    passed.on('upgrade', (from, upstream) => {
      const lines = Object.entries(from.headers).map(([name, to]) => `${name}: ${to}`);
      socket.write(`HTTP/1.1 101 Switching Protocols\r\n${lines.join('\r\n')}\r\n\r\n`);
      upstream.pipe(socket).pipe(upstream);
    });
    return passed.end();
  });
  await new Promise<void>(resolve => proxy.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => new Promise(resolve => proxy.close(() => resolve())));
  const { port: own } = proxy.address() as AddressInfo;

  const status = (to: string | number, headers: Record<string, string>) =>
    new Promise<number | undefined>((resolve, reject) => {
      const asked = request({
        port: to,
        path: '/api/health',
        headers: { authorization: `Bearer ${token}`, ...headers },
      });
      asked
        .on('response', answer => resolve(answer.resume().statusCode))
        .on('error', reject)
        .end();
    });
  const ours = { host: 'signalbox.example.com', origin: 'https://signalbox.example.com' };
  expect(await status(own, ours)).toBe(200);
  expect(await status(own, { host: ours.host })).toBe(200);
  expect(await status(own, { ...ours, origin: 'https://evil.example' })).toBe(403);
  expect(await status(own, { ...ours, origin: 'https://signalbox.example.com.evil.example' })).toBe(403);
  // Without these lines the server refuses.
  expect(await status(port, ours)).toBe(403);

  const socket = new WebSocket(`ws://127.0.0.1:${own}/api/ws`, { headers: { ...ours }, origin: ours.origin });
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
  socket.terminate();
});
