import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { CallToolResult, Client } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { openTestHost, planText, type TestHost } from '../../../app/test/support/open-host.ts';
import {
  approvalSchema,
  executionSummarySchema,
  exportSchema,
  nodeInstanceSchema,
  stateChangeSchema,
} from '../../src/operator/answer-schemas.ts';
import { exportExecution } from '../../src/operator/export-execution.ts';
import { TOKEN } from '../http-asker.ts';
import { type Mode, type OperatorStage, operatorStage, type Told } from './operator-stage.ts';

/** Waits for a person, and then does five things, one after another. */
const steps = planText(
  `<Phase name="all">
     <Step><Human id="ask" prompt="Go?" /></Step>
     {[1, 2, 3, 4, 5].map(n => (
       <Step key={n}><Task id={'t' + n} run={() => n} onFinished={() => ctx.state.update('n', n => n + 1)} /></Step>
     ))}
   </Phase>`,
  'z.object({ n: z.number().default(0) })',
);
/** Goes on until somebody says that it is enough, a turn for each word. */
const turns = planText(
  `<While id="loop" condition={() => ctx.state.get('n') < ctx.state.get('most')} maxIterations={1_000_000}>
     <Task id="turn" run={() => new Promise(resolve => setTimeout(resolve, 1))} onFinished={() => ctx.state.update('n', n => n + 1)} />
   </While>`,
  'z.object({ n: z.number().default(0), most: z.number().default(1_000_000) })',
);

const folder = mkdtempSync(path.join(tmpdir(), 'operator-'));
let real: TestHost;
let stage: OperatorStage;
beforeAll(async () => {
  real = await openTestHost(folder, { threads: { threads: 1 }, resumeOnAnswer: true });
  stage = await operatorStage(real.host);
  for (const [name, text] of Object.entries({ steps, turns })) writeFileSync(path.join(folder, `${name}.tsx`), text);
});
afterAll(async () => {
  await stage.close();
  await real.close();
  rmSync(folder, { recursive: true, force: true });
});

interface Following {
  readonly client: Client;
  readonly heard: readonly Told[];
  until(holds: () => boolean | Promise<boolean>): Promise<void>;
  call(name: string, args: Record<string, unknown>): Promise<Record<string, unknown> & { readonly id: string }>;
  read(uri: string): Promise<Record<string, unknown>>;
}

async function follow(mode: Mode): Promise<Following> {
  const client = await stage.connect(mode);
  onTestFinished(() => client.close());
  const heard: Told[] = [];
  let bell = () => {};
  const hear = async (told: object) => {
    const meta = (told as Told).params._meta as { readonly 'signalbox/news'?: readonly Told[] } | undefined;
    heard.push(told as Told, ...(meta?.['signalbox/news'] ?? []));
    bell();
  };
  client.fallbackNotificationHandler = hear;
  client.setNotificationHandler('notifications/resources/updated', hear);
  return {
    client,
    heard,
    async until(holds) {
      while (!(await holds())) {
        await new Promise<void>(resolve => {
          bell = resolve;
        });
      }
    },
    async call(name, args) {
      const { structuredContent } = (await client.callTool({ name, arguments: args })) as CallToolResult;
      return structuredContent as Record<string, unknown> & { readonly id: string };
    },
    async read(uri) {
      const [content] = (await client.readResource({ uri })).contents;
      return JSON.parse(content !== undefined && 'text' in content ? content.text : 'null');
    },
  };
}

describe('an execution that an operator’s program follows', () => {
  it.each<Mode>(['legacy', 'auto'])(
    '[V120] client subscribes, execution runs, client receives all frame events, in order: protocol %s',
    async mode => {
      const { client, heard, until, call, read } = await follow(mode);
      const started = executionSummarySchema.parse(
        await call('execution.start', { script: path.join(folder, 'steps.tsx'), tags: ['followed'] }),
      );
      const at = `signalbox://executions/${started.id}`;
      const resources = [`${at}/frames`, `${at}/events`];
      if (mode === 'legacy') for (const uri of resources) await client.subscribeResource({ uri });
      const listening = mode === 'auto' ? await client.listen({ resourceSubscriptions: resources }) : undefined;
      const before = (await read(`${at}/frames`)).next as number;
      await real.end(started.id);
      const { approvals } = (await read(`${at}/approvals`)) as { approvals: readonly { readonly id: string }[] };
      const respond = { execution_id: started.id, approval_id: approvals[0]?.id, decision: 'approve', comment: 'go' };
      expect(approvalSchema.parse(await call('approval.respond', respond))).toMatchObject({
        status: 'approved',
        responder: 'operator',
        comment: 'go',
      });
      await until(() =>
        heard.some(
          ({ method, params }) =>
            method === 'signalbox.execution.status' &&
            params.execution_id === started.id &&
            params.status === 'completed',
        ),
      );
      const { total_frames: total } = await read(at);
      const frames = heard.flatMap(({ method, params }) =>
        method === 'signalbox.frame.created' && params.execution_id === started.id ? [params.frame_index] : [],
      );
      const all = Array.from({ length: total as number }, (_, index) => index);
      // A session heard of it from the start, and who listens from the moment on in which it began to.
      expect(frames).toEqual(mode === 'legacy' ? all : all.slice(all.length - frames.length));
      expect(frames.length).toBeGreaterThanOrEqual((total as number) - before);
      // That a resource changed is told after what was committed.
      const changes = () => heard.filter(({ params }) => params.uri === `${at}/frames`);
      await until(() => changes().length >= (total as number) - before);
      const uris = heard.flatMap(({ params }) => params.uri ?? []);
      expect(uris.filter(uri => !resources.includes(uri))).toEqual([]);
      await listening?.close();
    },
  );

  it.each<Mode>(['legacy', 'auto'])(
    '[V120] [V155] client sends pause command, execution halts, resume continues with other limits: protocol %s',
    async mode => {
      const { call, read } = await follow(mode);
      const started = await call('execution.start', { script: path.join(folder, 'turns.tsx') });
      const { id: execution_id } = started;
      const at = `signalbox://executions/${execution_id}`;
      const valueNow = async () => (await real.state(started.id as never)).n as number;
      // It has no value before its first turn.
      while (!((await valueNow()) >= 3)) await new Promise(resolve => setImmediate(resolve));
      executionSummarySchema.parse(await call('execution.pause', { execution_id }));
      expect(await real.end(started.id as never)).toMatchObject({ status: 'paused' });
      const halted = await valueNow();
      expect(await read(at)).toMatchObject({ status: 'paused', active_nodes: expect.not.arrayContaining(['turn']) });
      expect(halted).toBeLessThan(1_000_000);
      const edit = { execution_id, key: 'most', value: halted + 3, trigger: 'enough is enough' };
      expect(stateChangeSchema.parse(await call('state.set', edit))).toMatchObject({
        value: halted + 3,
        status: 'paused',
      });
      const more = { execution_id, key: 'most', op: 'increment', value: 2, trigger: 'a little more' };
      expect(stateChangeSchema.parse(await call('state.update', more))).toMatchObject({ value: halted + 5 });
      expect(await call('state.update', { ...more, op: 'merge' })).toMatchObject({ code: 'plan/state-invalid' });
      expect(await valueNow()).toBe(halted);
      const config = { maxToolCalls: 40 };
      executionSummarySchema.parse(await call('execution.resume', { execution_id, config }));
      expect((await real.store.run(started.id as never))?.limits).toEqual(config);
      expect(await real.end(started.id as never)).toMatchObject({ status: 'completed', output: { n: halted + 5 } });
      expect(await call('execution.pause', { execution_id })).toMatchObject({ code: 'run/ended' });
    },
  );

  it('[A772] resume continues with a corrected plan, and its failed task starts again', async () => {
    const { call } = await follow('auto');
    const script = path.join(folder, 'buggy.tsx');
    const plan = (run: string) =>
      planText(
        `<Task id="work" run={() => { ${run} }} onFinished={n => ctx.state.set('n', n)} />`,
        'z.object({ n: z.number().optional() })',
      );
    writeFileSync(script, plan("throw new Error('a bug')"));
    const { id: execution_id } = await call('execution.start', { script });
    expect(await real.end(execution_id as never)).toMatchObject({ status: 'failed' });
    writeFileSync(script, plan('return 7;'));
    executionSummarySchema.parse(await call('execution.resume', { execution_id }));
    expect(await real.end(execution_id as never)).toMatchObject({ status: 'failed' });
    executionSummarySchema.parse(await call('execution.resume', { execution_id, use_current: true }));
    expect(await real.end(execution_id as never)).toEqual({ status: 'completed', output: { n: 7 } });
  });

  it('[V88] nodes are canceled and retried, and answers have their state', async () => {
    const { call, read } = await follow('auto');
    const held = planText(
      `<Task id="held" retries={0} run={({ signal }) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('no'))))} onError={() => {}} />`,
    );
    const id = await real.start('held', held);
    const node = { execution_id: id, node_id: 'held' };
    while (((await read(`signalbox://executions/${id}`)).active_nodes as string[]).length === 0);
    expect(nodeInstanceSchema.parse(await call('node.cancel', node))).toMatchObject({
      node_id: 'held',
      node_type: 'task',
      handlers: ['onError'],
    });
    await real.end(id);
    const again = nodeInstanceSchema.parse(await call('node.retry', node));
    expect(again.runs.length).toBeGreaterThan(0);
    expect(await call('node.retry', { ...node, node_id: 'none' })).toMatchObject({ code: 'run/node-unknown' });
    await call('execution.terminate', { execution_id: id, reason: 'enough' });
    await real.end(id);
    const rerun = executionSummarySchema.parse(await call('node.rerun_from', { ...node, mode: 'restart' }));
    expect(rerun.id).not.toBe(id);
    expect(await call('node.rerun_from', { ...node, node_id: 'none', mode: 'restart' })).toMatchObject({
      code: 'run/node-unknown',
    });
    await call('execution.stop', { execution_id: rerun.id });
    await real.end(rerun.id);
  });

  it('[V87] scripts are listed, and one shows its input without being run', async () => {
    const { read, call } = await follow('legacy');
    const file = path.join(folder, 'takes.tsx');
    writeFileSync(
      file,
      planText('<Task id="one" run={() => 1} />').replace('z.any()', 'z.object({ city: z.string() })'),
    );
    expect(await call('execution.start', { script: file })).toMatchObject({ code: 'command/usage' });
    expect(await read(`signalbox://scripts?file=${encodeURIComponent(file)}`)).toMatchObject({
      path: file,
      name: 'test',
      input_schema: { properties: { city: { type: 'string' } } },
      problem: null,
    });
    const { id } = await call('execution.start', { script: file, input: { city: 'Ulm' } });
    await real.end(id as never);
    expect(await read('signalbox://scripts?limit=1')).toMatchObject({
      scripts: [{ path: file, executions: 1, last_execution: id, last_status: 'completed', exists: true }],
    });
  });

  it('[V115] is exported as one file, embedded if it is small and linked if not', async () => {
    const { client } = await follow('auto');
    const id = await real.start('small', planText(`<Task id="one" run={() => 1} />`));
    await real.end(id);
    const answer = (await client.callTool({
      name: 'execution.export',
      arguments: { execution_id: id },
    })) as CallToolResult;
    const facts = exportSchema.parse(answer.structuredContent);
    const [, file] = answer.content;
    if (file?.type !== 'resource' || !('blob' in file.resource)) throw new Error('there is no file');
    const bytes = Buffer.from(file.resource.blob, 'base64');
    expect([facts.is_embedded, facts.bytes, facts.executions]).toEqual([true, bytes.length, 1]);
    expect(gunzipSync(bytes).includes(id)).toBe(true);

    const url = stage.url;
    const large = await exportExecution({ host: real.host, by: 'operator', url }, id, 10);
    if (!large.ok) throw new Error(large.error.message);
    const [link] = large.value.attached ?? [];
    if (link?.type !== 'resource_link') throw new Error('there is no link');
    expect(large.value.value).toMatchObject({ is_embedded: false, digest: null, head: facts.head });
    const fetched = await fetch(link.uri, { headers: { authorization: `Bearer ${TOKEN}` } });
    expect(gunzipSync(await fetched.arrayBuffer()).includes(id)).toBe(true);
    expect((await fetch(link.uri)).status).toBe(401);

    const nowhere = await exportExecution({ host: real.host, by: 'operator' }, id, 10);
    expect(nowhere).toMatchObject({ value: { value: { download: null }, attached: [{ type: 'text' }] } });
  });
});
