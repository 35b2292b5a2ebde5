import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type GuidedTools, guidedSchemas, openGuidedTools, type StepAnswer } from '@signalbox/app/guided';
import { thisMachine } from '@signalbox/app/host';
import { type ErrorEnvelope, errorEnvelope, type Json } from '@signalbox/model';
import { createAgentMcp, mcpHttp } from '@signalbox/server';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import * as z from 'zod';
import { agentTools } from '../../src/mcp/tool-definitions.ts';

const RESEARCH = { workflowId: 'wr.research' };

interface Stage {
  readonly home: string;
  readonly faults: readonly unknown[];
  /** The answer of a tool, as it travels; the text must be enough to go on in bounded space. */
  call(tool: string, args: unknown): Promise<Called>;
  raw(body: string): Promise<Response>;
}

type Called =
  | { readonly ok: true; readonly value: Record<string, unknown>; readonly text: string }
  | { readonly ok: false; readonly error: ErrorEnvelope; readonly text: string };

const answered = z.object({
  result: z.object({
    isError: z.boolean().optional(),
    content: z.tuple([z.object({ type: z.literal('text'), text: z.string() })]),
    structuredContent: z.record(z.string(), z.unknown()),
  }),
});

function openStage(): Stage & { close(): void } {
  const home = mkdtempSync(path.join(tmpdir(), 'hostile-'));
  const faults: unknown[] = [];
  const onFault = (thrown: unknown) => faults.push(thrown);
  const machine = thisMachine();
  const tools: GuidedTools = openGuidedTools({ dataDirectory: home, directories: [], machine });
  const { route } = mcpHttp(createAgentMcp(tools, { onFault }), { timers: machine.timers, onFault });
  const raw = (body: string) =>
    route(
      new Request('http://127.0.0.1:4280/mcp/agent', {
        method: 'POST',
        headers: { accept: 'application/json, text/event-stream', 'content-type': 'application/json' },
        body,
      }),
    );
  return {
    home,
    faults,
    raw,
    async call(name, args) {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } });
      const text = await (await raw(body)).text();
      const { result } = answered.parse(JSON.parse(/^data: (\{.*)$/m.exec(text)?.[1] ?? text));
      const [{ text: told }] = result.content;
      if (result.isError !== true) return { ok: true, value: result.structuredContent, text: told };
      return { ok: false, error: errorEnvelope.parse(result.structuredContent), text: told };
    },
    close: () => rmSync(home, { recursive: true, force: true }),
  };
}

let stage: Stage & { close(): void };
let start: StepAnswer;
let second: StepAnswer;
beforeAll(async () => {
  stage = openStage();
  start = await started(stage);
  second = await started(stage);
});
afterAll(() => stage.close());

async function started({ call }: Stage): Promise<StepAnswer> {
  const answer = await call('start_workflow', RESEARCH);
  if (!answer.ok) throw new Error(answer.text);
  return guidedSchemas.start.answer.parse(answer.value);
}

async function refused(tool: string, args: unknown, on: Stage = stage): Promise<string> {
  const answer = await on.call(tool, args);
  if (answer.ok) throw new Error(`was answered: ${answer.text}`);
  expect(answer.text).toContain('What is wrong:');
  expect(answer.text.length).toBeLessThan(4_000);
  return answer.error.code;
}

describe('tokens that were changed', () => {
  it('[V47] changed in any one character, cut anywhere, doubled or padded are refused by their code', async () => {
    const { stateToken, ackToken = '' } = start;
    const positions = Array.from({ length: 40 }, (_, index) => Math.floor((index * stateToken.length) / 40));
    for (const at of positions) {
      const other = stateToken[at] === 'A' ? 'B' : 'A';
      const changed = `${stateToken.slice(0, at)}${other}${stateToken.slice(at + 1)}`;
      for (const bad of [changed, stateToken.slice(0, at)]) {
        expect(await refused('continue_workflow', { stateToken: bad })).toMatch(
          /^TOKEN_(INVALID_FORMAT|BAD_SIGNATURE|UNSUPPORTED_VERSION)$/,
        );
      }
    }
    for (const bad of [`${stateToken}=`, `${stateToken} `, `${stateToken}${stateToken}`, ` ${stateToken}`, '', '....'])
      expect(await refused('continue_workflow', { stateToken: bad })).toBe('TOKEN_INVALID_FORMAT');
    const huge = `st.v1.${'A'.repeat(900_000)}.${'A'.repeat(43)}`;
    expect(await refused('continue_workflow', { stateToken: huge })).toBe('TOKEN_INVALID_FORMAT');
    expect(await refused('checkpoint_workflow', { checkpointToken: ackToken })).toBe('TOKEN_INVALID_FORMAT');
  });

  it('[V47] of another data directory are refused', async () => {
    const elsewhere = openStage();
    onTestFinished(() => elsewhere.close());
    await started(elsewhere);
    expect(await refused('continue_workflow', { stateToken: start.stateToken }, elsewhere)).toBe('TOKEN_BAD_SIGNATURE');
  });

  it('[V47] are valid while their key is the previous one, and refused when it is gone', async () => {
    const own = openStage();
    onTestFinished(() => own.close());
    const { stateToken } = await started(own);
    const file = path.join(own.home, 'keys/keyring.json');
    const { current } = JSON.parse(readFileSync(file, 'utf8'));
    const fresh = (byte: number) => ({ alg: 'hmac_sha256', key: Buffer.alloc(32, byte).toString('base64url') });
    writeFileSync(file, JSON.stringify({ v: 1, current: fresh(1), previous: current }), { mode: 0o600 });
    expect((await own.call('continue_workflow', { stateToken })).ok).toBe(true);
    writeFileSync(file, JSON.stringify({ v: 1, current: fresh(2), previous: fresh(1) }), { mode: 0o600 });
    const answer = await own.call('continue_workflow', { stateToken });
    expect(answer).toMatchObject({ ok: false, error: { code: 'TOKEN_BAD_SIGNATURE' } });
    expect(answer.text).toContain('Next call:\nresume_session {}');
  });
});

describe('several workflows in one chat', () => {
  it('[V48] tokens of two runs in one call are refused with the workflow, run and step of both', async () => {
    const answer = await stage.call('continue_workflow', { stateToken: start.stateToken, ackToken: second.ackToken });
    if (answer.ok) throw new Error('was answered');
    expect(answer.error.code).toBe('TOKEN_SCOPE_MISMATCH');
    const step = `at step "${start.pending?.stepId}"`;
    for (const { runId } of [start, second]) {
      expect(answer.text).toContain(`workflow wr.research, run ${runId} ${step}`);
    }
  });

  it('[V48] the tokens of one workflow in a call that names another are refused with the name of their run', async () => {
    const { stateToken, ackToken, checkpointToken } = start;
    for (const [tool, tokens] of [
      ['continue_workflow', { stateToken, ackToken }],
      ['checkpoint_workflow', { checkpointToken }],
    ] as const) {
      const answer = await stage.call(tool, { ...tokens, workflowId: 'wr.code-review' });
      expect(answer).toMatchObject({ ok: false, error: { code: 'TOKEN_SCOPE_MISMATCH' } });
      expect(answer.text).toContain(`workflow wr.research, run ${start.runId}`);
    }
  });

  it('[V48] every answer about a run names its workflow on the first line, and so do its calls', async () => {
    const told = `workflow wr.research (${start.workflow.name}), run ${start.runId}, step ${start.pending?.stepInstanceKey}`;
    const { stateToken, checkpointToken } = start;
    const shown = await stage.call('continue_workflow', { stateToken });
    const saved = await stage.call('checkpoint_workflow', { checkpointToken });
    if (!shown.ok) throw new Error(shown.text);
    const { ackToken } = guidedSchemas.continue.answer.parse(shown.value);
    const blocked = await stage.call('continue_workflow', { stateToken, ackToken, output: { notesMarkdown: 'x' } });
    expect(blocked).toMatchObject({ ok: true, value: { kind: 'blocked' } });
    for (const { text } of [shown, saved, blocked]) {
      expect(text.split('\n')[0]).toBe(told);
      for (const call of text.match(/^(continue|checkpoint)_workflow \{.*$/gm) ?? []) {
        expect(call).toContain('"workflowId":"wr.research"');
      }
    }
  });
});

describe('arguments', () => {
  const wrong: Json[] = [null, 7, -0.5, true, '', 'x'.repeat(500_000), '\u0000', '\ud800', [], [[]], {}, { a: {} }];

  it.each(agentTools.map(({ name, input }) => [name, Object.keys((input as z.ZodObject).shape)] as const))(
    '[V47] of the wrong kind are told: %s',
    async (tool, fields) => {
      const { stateToken, checkpointToken } = start;
      const bases = { continue_workflow: { stateToken }, checkpoint_workflow: { checkpointToken } };
      const base = Object.hasOwn(bases, tool) ? bases[tool as keyof typeof bases] : {};
      for (const field of fields) {
        for (const value of wrong) {
          const answer = await stage.call(tool, { ...base, [field]: value });
          if (!answer.ok) expect(answer.error.code).toMatch(/^(VALIDATION_ERROR|TOKEN_|workflow\/)/);
          expect(answer.text.length).toBeLessThan(20_000);
        }
      }
      for (const value of [[], 'x', 7]) {
        const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: tool, arguments: value } };
        expect((await (await stage.raw(JSON.stringify(body))).text()).length).toBeLessThan(4_000);
      }
      expect(stage.faults).toEqual([]);
    },
  );

  it.each([
    ['a prototype', '{"__proto__":{"admin":true}}'],
    ['a prototype below', '{"a":[{"b":{"__proto__":{"admin":true}}}]}'],
    ['300 KB', JSON.stringify({ big: 'x'.repeat(300_000) })],
    ['300 KB in many keys', JSON.stringify(Object.fromEntries(Array.from({ length: 30_000 }, (_, key) => [key, 'x'])))],
    ['a number that is none', '{"n":1e999}'],
  ])('[V47] a context with %s is refused, and nothing is changed', async (_name, context) => {
    const { stateToken } = start;
    const fresh = await stage.call('continue_workflow', { stateToken });
    if (!fresh.ok) throw new Error(fresh.text);
    const { ackToken } = guidedSchemas.continue.answer.parse(fresh.value);
    for (const [tool, args] of [
      ['start_workflow', RESEARCH],
      ['continue_workflow', { stateToken, ackToken, output: { notesMarkdown: 'x' } }],
    ] as const) {
      const given = JSON.stringify(args).replace(/\}$/, `,"context":${context}}`);
      const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${tool}","arguments":${given}}}`;
      expect(await (await stage.raw(body)).text()).toContain('VALIDATION_ERROR');
    }
    expect(await stage.call('continue_workflow', { stateToken })).toEqual(fresh);
    expect(({} as { admin?: boolean }).admin).toBe(undefined);
  });

  it('[V47] of ten megabytes are not read', async () => {
    const answer = await stage.raw(
      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":"${'x'.repeat(10_000_000)}"}`,
    );
    expect(answer.status).toBe(413);
    const { error } = (await answer.json()) as { error: { data: unknown } };
    expect(errorEnvelope.parse(error.data).code).toBe('request/too-large');
  });

  it('[V47] of any kind and shape are answered by the port or with an envelope, without an exception', async () => {
    const { stateToken, ackToken, checkpointToken } = start;
    const real = fc.constantFrom<Json>(stateToken, ackToken ?? '', checkpointToken ?? '', 'wr.research', 'advance');
    const value = fc.oneof(real, fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<Json>, fc.string({ unit: 'binary' }));
    const fields = [...new Set(agentTools.flatMap(({ input }) => Object.keys((input as z.ZodObject).shape)))];
    const args = fc.dictionary(fc.constantFrom(...fields), value, { maxKeys: 5 });
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...agentTools), args, async ({ name, answer: schema }, given) => {
        const answer = await stage.call(name, given);
        if (answer.ok) schema.parse(answer.value);
      }),
      { numRuns: 200 },
    );
    expect(stage.faults).toEqual([]);
  });
});
