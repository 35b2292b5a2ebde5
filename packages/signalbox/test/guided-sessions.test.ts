import { appendFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  configOf,
  type GuidedTools,
  openGuidedTools,
  recordAppliedConfig,
  type StepAnswer,
} from '@signalbox/app/guided';
import { openOwnedStore, thisMachine } from '@signalbox/app/host';
import { describe, expect, it, onTestFinished } from 'vitest';
import { asked as askedOf, at, startRun } from '../../runs/test/builders.ts';
import { main } from '../src/main.ts';
import { workflowPlaces } from '../src/workflow/workflow-places.ts';
import { memoryTerminal } from './memory-terminal.ts';

const flow = {
  id: 'project.ship',
  name: 'Ship it',
  description: 'Asks before it ships.',
  version: '1.0.0',
  steps: [
    { id: 'build', title: 'Build it', prompt: 'Build it.' },
    { id: 'ship', title: 'Ship it', prompt: 'Ship it.', requireConfirmation: { kind: 'human_approval' } },
    { id: 'tell', title: 'Tell it', prompt: 'Tell it.' },
  ],
};

function newPlace(): { readonly data: string; readonly tools: GuidedTools; readonly folder: string } {
  const folder = mkdtempSync(path.join(tmpdir(), 'sessions-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const flows = mkdtempSync(path.join(folder, 'flows-'));
  writeFileSync(path.join(flows, 'ship.json'), JSON.stringify(flow));
  const data = mkdtempSync(path.join(folder, 'data-'));
  const directories = [{ kind: 'project', directory: flows }] as const;
  return { folder, data, tools: openGuidedTools({ dataDirectory: data, directories, machine: thisMachine() }) };
}

async function say(data: string, ...args: readonly string[]) {
  const terminal = memoryTerminal();
  const code = await main([...args, '--data-dir', data], terminal);
  return { code, text: terminal.printed.join('\n'), complaints: terminal.complaints.join('\n') };
}

async function started(tools: GuidedTools): Promise<StepAnswer> {
  const answer = await tools.start({ workflowId: 'project.ship' });
  if (!answer.ok) throw new Error(answer.error.message);
  return answer.value;
}

/** A run of a plan, made in an earlier year, with a question that waits. */
async function planThatAsks(data: string): Promise<string> {
  const owned = openOwnedStore(data, thisMachine());
  if (!owned.ok) throw new Error(owned.error.message);
  const writer = await startRun(owned.value.store);
  await writer.write({ at: at(1), decisions: [{ kind: 'ask', decision: askedOf(writer.run) }] });
  owned.value.close();
  return writer.run;
}

async function handIn(tools: GuidedTools, { nextCall }: StepAnswer): Promise<StepAnswer> {
  const call = nextCall?.arguments as Parameters<GuidedTools['continue']>[0];
  const output = call.ackToken === undefined ? {} : { output: { notesMarkdown: 'Did it.\nAll of it.' } };
  const answer = await tools.continue({ ...call, ...output });
  if (!answer.ok) throw new Error(answer.error.message);
  return answer.value;
}

describe('guided sessions on the command line', () => {
  it('[G35] are listed, shown, answered, and gone on with', async () => {
    const { data, tools } = newPlace();
    expect(await say(data, 'sessions')).toMatchObject({ code: 0, text: 'No guided sessions yet.' });
    expect(await say(data, 'decisions')).toMatchObject({ code: 0, text: 'Nothing waits for you.' });
    const start = await started(tools);
    const blocked = await handIn(tools, await handIn(tools, start));
    expect(blocked.kind).toBe('blocked');
    const { sessionId } = start;

    const listed = await say(data, 'sessions');
    expect(listed.text).toContain(sessionId);
    expect(listed.text).toContain('1 waiting for you');
    expect(listed.text).toContain('blocked      project.ship  at Ship it');
    expect(JSON.parse((await say(data, 'sessions', '--json')).text)).toMatchObject({ sessionId, waiting: 1 });

    const waiting = JSON.parse((await say(data, 'decisions', '--json')).text);
    const { id: gapId, proposalHash } = waiting.decision;
    expect((await say(data, 'decisions')).text).toContain(`approve | deny ${gapId}`);
    const shown = await say(data, 'show', sessionId.slice(0, 20));
    expect(shown.code).toBe(0);
    for (const part of ['healthy', '○ Build it (build)', '● Ship it (ship)', gapId, 'Did it.']) {
      expect(shown.text).toContain(part);
    }
    expect(JSON.parse((await say(data, 'show', sessionId, '--json')).text)).toMatchObject({
      sessionId,
      runs: [{ preferredTip: blocked.nodeId, gaps: [{ gapId, shown: proposalHash }] }],
    });
    expect((await say(data, 'show', sessionId, '--xml')).code).toBe(2);

    const asked = await say(data, 'answer', sessionId, gapId.slice(0, 8));
    expect([asked.code, asked.text.includes(proposalHash)]).toEqual([3, true]);
    expect((await say(data, 'answer', sessionId, gapId, '--approve', '--deny')).code).toBe(2);
    expect((await say(data, 'answer', sessionId, gapId, '--value', 'x', '--reason', 'y')).code).toBe(2);
    expect((await say(data, 'answer', sessionId, 'ffff', '--approve')).code).toBe(1);
    const other = `sha256:${'0'.repeat(64)}`;
    expect((await say(data, 'answer', sessionId, gapId, '--approve', '--shown', other)).complaints).toContain(
      'something else',
    );
    const given = await say(data, 'answer', sessionId, gapId, '--approve', '--reason', 'ship');
    expect(given).toMatchObject({ code: 0, text: '✓ approved: ship' });
    expect((await say(data, 'answer', sessionId, gapId, '--deny')).text).toBe('✓ approved: ship');
    expect((await say(data, 'decisions')).text).toBe('Nothing waits for you.');
    const told = await handIn(tools, blocked);
    expect(told.warnings.map(({ message }) => message).join()).toContain('ship');
    let last = told;
    while (!last.isComplete) last = await handIn(tools, last);
  });

  it('[G70] are listed with the runs of plans, newest first, by the same filters, and shown by the ids of their runs', async () => {
    const { data, tools } = newPlace();
    expect((await say(data, 'ls')).text).toBe('No runs yet.');
    const { runId, sessionId } = await started(tools);
    const line = /^\S+ {2}running {4}Ship it {2}\S+Z {2}guided {2}at Build it$/;
    const alone = await say(data, 'ls');
    expect([alone.code, alone.text.startsWith(runId), line.test(alone.text)]).toEqual([0, true, true]);
    const plan = await planThatAsks(data);
    const later = await started(tools);
    const listed = async (...args: readonly string[]) =>
      (await say(data, 'ls', '--json', ...args)).text
        .split('\n')
        .filter(each => each !== '')
        .map(each => JSON.parse(each).id);
    expect(await listed()).toEqual([later.runId, runId, plan]);
    // No process drives the plan, so it is listed as paused.
    expect(await listed('--status', 'running')).toEqual([later.runId, runId]);
    expect(await listed('--status', 'paused')).toEqual([plan]);
    expect(await listed('--status', 'completed')).toEqual([]);
    expect(await listed('--tag', 'x')).toEqual([]);
    expect((await say(data, 'ls')).text.split('\n').map(each => each.slice(0, 36))).toEqual([later.runId, runId, plan]);
    for (const given of [runId, runId.slice(0, 30)]) {
      const shown = await say(data, 'show', given);
      expect([shown.code, shown.text.includes(sessionId)]).toEqual([0, true]);
    }
    expect((await say(data, 'show', 'ffff')).complaints).toContain('There is no run ffff');
  });

  it('[G71] have their decisions in one list with those of plans, in one shape', async () => {
    const { data, tools } = newPlace();
    const plan = await planThatAsks(data);
    const start = await started(tools);
    await handIn(tools, await handIn(tools, start));
    const lines = (await say(data, 'decisions', '--json')).text.split('\n').map(line => JSON.parse(line));
    const shape = {
      id: expect.any(String),
      node: expect.any(String),
      proposalHash: expect.any(String),
      status: 'open',
    };
    expect(lines).toMatchObject([
      { run: plan, kind: 'plan', decision: shape },
      { run: start.runId, kind: 'guided', sessionId: start.sessionId, decision: shape },
    ]);
    const [asked, gap] = lines;
    expect(Object.keys(gap.decision).toSorted()).toEqual(Object.keys(asked.decision).toSorted());
    const answered = JSON.parse((await say(data, 'approve', gap.decision.id, '--json')).text);
    expect(answered).toMatchObject({ run: start.runId, kind: 'guided', decision: { status: 'answered' } });
    const plain = (await say(data, 'decisions')).text;
    expect([plain.includes(asked.decision.id), plain.includes(gap.decision.id)]).toEqual([true, false]);
    const ofRun = (await say(data, 'decisions', '--run', start.runId, '--all', '--json')).text;
    expect(JSON.parse(ofRun)).toEqual(answered);
  });

  it('[A149] [X8] are answered by the id that the list prints, or by its beginning, as runs are', async () => {
    const { data, tools } = newPlace();
    const gapOf = async (reason: 'needs_user_choice' | 'confirmation') => {
      const start = await started(tools);
      if (reason === 'confirmation') await handIn(tools, await handIn(tools, start));
      else {
        const call = start.nextCall?.arguments as Parameters<GuidedTools['continue']>[0];
        const needsFromUser = [{ reason: 'needs_user_account_access' as const, summary: 'Which account?' }];
        const asked = await tools.continue({ ...call, output: { notesMarkdown: 'Hm.', needsFromUser } });
        if (!asked.ok) throw new Error(asked.error.message);
      }
      const waiting = (await say(data, 'decisions', '--json')).text.trim().split('\n');
      const { sessionId } = start;
      return waiting.map(line => JSON.parse(line)).find(one => one.sessionId === sessionId).decision.id as string;
    };
    const [yes, no, words] = [
      await gapOf('confirmation'),
      await gapOf('confirmation'),
      await gapOf('needs_user_choice'),
    ];
    expect((await say(data, 'decisions')).text).toContain(`approve ${words} --value TEXT`);
    expect(await say(data, 'approve', yes, '--reason', 'ship')).toMatchObject({
      code: 0,
      text: expect.stringContaining('✓ approve: ship'),
    });
    // An answer counts once.
    expect((await say(data, 'deny', yes)).text).toContain('✓ approve: ship');
    expect(JSON.parse((await say(data, 'deny', no, '--reason', 'not today', '--json')).text)).toMatchObject({
      kind: 'guided',
      decision: { id: no, status: 'answered', resolution: { resolutionType: 'reject', rationale: 'not today' } },
    });
    expect((await say(data, 'approve', words.slice(0, -1), '--args', 'no JSON')).code).toBe(2);
    expect((await say(data, 'approve', words.slice(0, -1), '--value', 'the second one')).code).toBe(0);
    expect((await say(data, 'decisions')).text).toBe('Nothing waits for you.');
    expect(existsSync(path.join(data, 'db.sqlite'))).toBe(false);
    expect((await say(data, 'approve', 'ffff')).complaints).toContain('There is no decision ffff');
  });

  it('[G36] are exported, deleted, imported and verified by their ids, also from a damaged one', async () => {
    const { data, tools, folder } = newPlace();
    const start = await started(tools);
    await handIn(tools, start);
    const { sessionId } = start;
    const file = path.join(folder, 'bundle.json');
    expect(await say(data, 'export', sessionId, '-o', file)).toMatchObject({ code: 0 });
    const text = readFileSync(file, 'utf8');
    expect(JSON.parse(text)).toMatchObject({
      session: { sessionId },
      producer: { appVersion: '0.1.0', appliedConfigHash: expect.stringMatching(/^sha256:/) },
    });
    const plain = JSON.parse((await say(data, 'export', sessionId.slice(0, 30))).text);
    expect(plain.bundleId).toBe(JSON.parse(text).bundleId);

    const verified = await say(data, 'verify', sessionId, '--json');
    const { head } = JSON.parse(verified.text);
    rmSync(path.join(data, 'sessions', sessionId), { recursive: true });
    expect((await say(data, 'verify', sessionId)).code).toBe(1);
    const arrived = JSON.parse((await say(data, 'import', file, '--json')).text);
    expect(arrived).toMatchObject({ sessionId, isNew: false, head });
    expect((await say(data, 'verify', sessionId, '--expect-head', head)).code).toBe(0);
    const copy = JSON.parse((await say(data, 'import', file, '--json')).text);
    expect(copy).toMatchObject({ exportedAs: sessionId, isNew: true });
    expect((await say(data, 'verify', copy.sessionId)).code).toBe(0);

    const events = path.join(data, 'sessions', copy.sessionId, 'events');
    appendFileSync(path.join(events, readdirSync(events).sort().at(-1) ?? ''), 'x');
    expect((await say(data, 'verify', copy.sessionId)).code).toBe(1);
    const salvaged = await say(data, 'export', copy.sessionId, '--output', file);
    // One append holds all of it, so that nothing before the damage is left.
    expect([salvaged.code, existsSync(file)]).toEqual([1, true]);

    writeFileSync(file, text.replace('"Did it.', '"Did at.'));
    expect((await say(data, 'import', file)).complaints).toContain('not what its integrity entry says');
    for (const content of ['', 'This is a letter.', '\u001f\u008b', '[]']) {
      writeFileSync(path.join(folder, 'letter'), content);
      const refused = await say(data, 'import', path.join(folder, 'letter'));
      expect(refused.code).toBe(1);
      expect(refused.complaints).toContain('letter is not a bundle: neither a run nor a guided session.');
    }
    expect((await say(data, 'import', path.join(folder, 'none'))).code).toBe(2);
    expect((await say(data, 'import', folder)).code).toBe(2);
    expect((await say(data, 'export', 'nobody')).code).toBe(1);
    expect((await say(data, 'export', sessionId, '-o', path.join(folder, 'no/such/place'))).code).toBe(2);
  });

  it('[G36] [X14] [X20] are kept and let go, and their keys are rotated while agents go on', async () => {
    const { data, tools } = newPlace();
    expect((await say(data, 'keys', 'ls')).text).toContain('No keys yet');
    const start = await started(tools);
    const { sessionId } = start;
    expect((await say(data, 'sessions', 'keep', sessionId)).text).toBe(`Session ${sessionId} is kept.`);
    expect((await say(data, 'sessions')).text).toContain('kept');
    expect((await say(data, 'sessions', 'unkeep', sessionId)).text).toBe(`Session ${sessionId} is no longer kept.`);
    expect((await say(data, 'sessions', 'unkeep', sessionId)).text).toBe(`Session ${sessionId} was not kept before.`);
    expect((await say(data, 'sessions', 'keep', 'nobody')).code).toBe(1);
    expect((await say(data, 'keep', sessionId.slice(0, 13))).text).toBe(`Session ${sessionId} is kept.`);
    expect((await say(data, 'unkeep', sessionId)).text).toBe(`Session ${sessionId} is no longer kept.`);
    expect((await say(data, 'keys')).code).toBe(2);
    expect((await say(data, 'keys', 'rotate')).text).toMatch(/^current {3}[0-9a-f]{16}\nprevious {2}[0-9a-f]{16}$/);
    expect((await handIn(tools, start)).pending?.stepId).toBe('ship');
    await say(data, 'keys', 'rotate');
    expect(await tools.continue({ stateToken: start.stateToken })).toMatchObject({
      ok: false,
      error: { code: 'TOKEN_BAD_SIGNATURE' },
    });
  });

  it('[G37] the configuration that the last server started with is recorded, and it is told when another one is desired', async () => {
    const { data, folder } = newPlace();
    const config = async (...args: readonly string[]) =>
      JSON.parse((await say(data, 'workflow', 'config', '--json', ...args)).text);
    const before = await config();
    expect(before).toMatchObject({ applied: null, isRestartNeeded: false });
    const clock = { now: () => 0 };
    const { hash } = recordAs(data, clock);
    expect(hash).toBe(before.desired.configHash);
    expect(await config()).toMatchObject({
      applied: { appliedConfigHash: hash, appliedAt: '1970-01-01T00:00:00.000Z' },
      isRestartNeeded: false,
    });
    const other = await config('--workflows', folder);
    expect(other).toMatchObject({ applied: { appliedConfigHash: hash }, isRestartNeeded: true });
    expect((await say(data, 'workflow', 'config', '--workflows', folder)).text).toContain('Restart the server');
    writeFileSync(path.join(data, 'applied-config.json'), '{');
    expect(await config()).toMatchObject({ applied: null });
  });
});

function recordAs(data: string, clock: { now(): number }) {
  const desired = configOf('0.1.0', workflowPlaces());
  recordAppliedConfig(data, desired, clock);
  return desired;
}
