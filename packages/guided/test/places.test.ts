import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { seededRng } from '@signalbox/testkit';
import { modePresets, projectCapabilities, projectRunDags } from '@signalbox/workflow';
import { describe, expect, it } from 'vitest';
import { guidedSchemas, openGuidedDesk } from '../src/index.ts';
import { filledIn, keysOf, NOTES } from './support/agent-calls.ts';
import {
  dataDirectory,
  errorOf,
  eventsOf,
  filesUnder,
  value,
  walk,
  walkUntilBlocked,
  writeWorkflow,
} from './support/guided-walk.ts';
import { machineOf, openTools } from './support/open-tools.ts';
import { ports } from './support/ports.ts';

const bugs = { workflowId: 'wr.bug-investigation' } as const;

describe('places and tokens', () => {
  it('[G5] refuses tokens that were changed, truncated, of another kind, of another keyring or of no place', async () => {
    const directory = dataDirectory();
    const tools = openTools(directory);
    const start = value(await tools.start(bugs));
    const { stateToken, ackToken = '' } = start;
    const codeOf = async (call: Parameters<typeof tools.continue>[0]) => errorOf(await tools.continue(call)).code;
    const changed = `${stateToken.slice(0, 20)}${stateToken[20] === 'A' ? 'B' : 'A'}${stateToken.slice(21)}`;
    expect(await codeOf({ stateToken: 'nonsense' })).toBe('TOKEN_INVALID_FORMAT');
    expect(await codeOf({ stateToken: stateToken.slice(0, -9) })).toBe('TOKEN_INVALID_FORMAT');
    expect(await codeOf({ stateToken: ackToken })).toBe('TOKEN_INVALID_FORMAT');
    expect(await codeOf({ stateToken: changed })).toMatch(/^TOKEN_(BAD_SIGNATURE|INVALID_FORMAT)$/);
    expect(await codeOf({ stateToken: stateToken.replace('st.v1.', 'st.v2.') })).toBe('TOKEN_UNSUPPORTED_VERSION');
    const foreign = openTools(dataDirectory(), { machine: machineOf(7) });
    value(await foreign.start(bugs));
    expect(errorOf(await foreign.continue({ stateToken })).code).toBe('TOKEN_BAD_SIGNATURE');
    const empty = openTools(dataDirectory());
    value(await empty.start(bugs));
    expect(errorOf(await empty.continue({ stateToken })).code).toBe('TOKEN_UNKNOWN_NODE');
    expect(errorOf(await empty.continue({ stateToken, ackToken })).code).toBe('TOKEN_UNKNOWN_NODE');
  });

  it('[G6] refuses a token of another run, and names its run', async () => {
    const tools = openTools(dataDirectory());
    const one = value(await tools.start(bugs));
    const two = value(await tools.start({ workflowId: 'wr.research' }));
    const mixed = errorOf(await tools.continue({ stateToken: one.stateToken, ackToken: two.ackToken ?? '' }));
    expect(mixed.code).toBe('TOKEN_SCOPE_MISMATCH');
    expect(mixed.message).toContain(`workflow wr.bug-investigation, run ${one.runId} at step "reproduce"`);
    expect(mixed.message).toContain(`workflow wr.research, run ${two.runId} at step "${two.pending?.stepId}"`);
    const wrong = errorOf(await tools.continue({ stateToken: one.stateToken, workflowId: 'wr.research' }));
    expect(wrong).toMatchObject({ code: 'TOKEN_SCOPE_MISMATCH' });
    expect(wrong.message).toContain(`run ${one.runId}`);
    const marked = await tools.checkpoint({ checkpointToken: one.checkpointToken ?? '', workflowId: 'wr.research' });
    expect(errorOf(marked).code).toBe('TOKEN_SCOPE_MISMATCH');
  });

  it('[G7] forks when a place is left again, and shows the branches there', async () => {
    const directory = dataDirectory();
    const tools = openTools(directory);
    const start = value(await tools.start(bugs));
    const first = value(await tools.continue(filledIn(start)));
    const again = value(await tools.continue({ stateToken: start.stateToken }));
    expect(again.pending?.prompt).toContain('AFTER THIS PLACE, ON THE PREFERRED BRANCH:');
    const second = value(await tools.continue(filledIn(again)));
    expect(second.nodeId).not.toBe(first.nodeId);
    expect(second.pending).toEqual(first.pending);
    const dag = projectRunDags(eventsOf(directory, start.sessionId)).get(start.runId);
    expect(dag?.nodes.get(start.nodeId)?.children).toEqual([first.nodeId, second.nodeId]);
    expect(dag?.edges.map(({ cause }) => cause.kind)).toEqual(['intentional_fork', 'non_tip_advance']);
    const third = value(await tools.continue({ stateToken: start.stateToken }));
    expect(third.pending?.prompt).toContain(`### Branch ${first.nodeId}`);
  });

  it('[G8] creates a checkpoint once, with its notes, and continues from it', async () => {
    const directory = dataDirectory();
    const tools = openTools(directory);
    const start = value(await tools.start(bugs));
    const call = { checkpointToken: start.checkpointToken ?? '', notesMarkdown: 'Half way: the cache is suspect.' };
    const marked = value(await tools.checkpoint(call));
    expect(guidedSchemas.checkpoint.answer.parse(marked)).toEqual(marked);
    expect(marked).toMatchObject({ nodeId: marked.checkpointNodeId, pending: start.pending });
    const before = filesUnder(directory);
    expect(value(await openTools(directory).checkpoint(call))).toEqual(marked);
    expect(filesUnder(directory)).toEqual(before);
    const shown = value(await tools.continue({ stateToken: marked.stateToken }));
    expect(shown.pending?.prompt).toContain('Half way: the cache is suspect.');
    const next = value(await tools.continue(filledIn(shown)));
    expect(next.pending?.stepId).toBe('hypotheses');
    expect(value(await tools.checkpoint(call))).toEqual(marked);
  });
});

describe('the record of a step', () => {
  it('[G9] keeps the context: input is merged, null deletes, prompts and conditions read it', async () => {
    const directory = dataDirectory();
    const flows = dataDirectory();
    writeWorkflow(flows, 'ask.json', {
      id: 'project.ask',
      name: 'Ask',
      description: 'Asks for a name and greets.',
      version: '1.0.0',
      steps: [
        { id: 'ask', title: 'Ask', prompt: 'Ask for the name. Ticket {{ticket}}.' },
        {
          id: 'greet',
          title: 'Greet',
          prompt: 'Greet {{name}} about {{ticket}}.',
          runCondition: { var: 'greets', equals: true },
        },
        { id: 'end', title: 'End', prompt: 'End with {{name}}.' },
      ],
    });
    const tools = openTools(directory, { directories: [{ kind: 'project', directory: flows }] });
    const start = value(await tools.start({ workflowId: 'project.ask', context: { ticket: 'T-1', old: true } }));
    expect(start.pending?.prompt).toContain('Ticket T-1.');
    const greet = value(await tools.continue(filledIn(start, { name: 'Ada', greets: true, ticket: null })));
    expect(greet.pending?.prompt).toContain('Greet Ada about [unset: ticket].');
    const end = value(await tools.continue(filledIn(greet, { name: 'Eve' })));
    expect(JSON.stringify(value(await tools.continue(filledIn(start))))).toBe(JSON.stringify(greet));
    expect(end.pending?.prompt).toContain('End with Eve.');
    expect(JSON.stringify([start, greet, end])).not.toContain('"old"');

    const big = { blob: 'x'.repeat(300_000) };
    for (const refused of [
      await tools.start({ workflowId: 'project.ask', context: big }),
      await tools.continue(filledIn(end, big)),
    ]) {
      expect(errorOf(refused)).toMatchObject({ code: 'VALIDATION_ERROR', details: { maxBytes: 262_144 } });
    }
    const hostile = JSON.parse('{"a":{"__proto__":{"x":1}}}');
    expect(errorOf(await tools.continue(filledIn(end, hostile))).code).toBe('VALIDATION_ERROR');
    expect(value(await tools.continue(filledIn(end))).isComplete).toBe(true);
  });

  it('[G10] keeps the preferences of the person, and warns if they go further', async () => {
    const directory = dataDirectory();
    const tools = openTools(directory, { preferences: modePresets.guided });
    const start = value(await tools.start(bugs));
    expect(start.preferences).toEqual({ autonomy: 'guided', riskPolicy: 'conservative' });
    const preferences = { autonomy: 'full_auto_never_stop' } as const;
    const far = value(await tools.start({ ...bugs, preferences }, 'person'));
    const next = value(await tools.continue({ ...filledIn(far), output: {} }));
    expect(next).toMatchObject({ kind: 'ok', preferences });
    expect(next.gaps.map(({ reason }) => reason)).toContain('contract_violation:missing_required_output');
    expect(next.warnings.map(({ code }) => code)).toContain('recommendation_exceeded');
    expect(value(await tools.continue({ stateToken: far.stateToken })).preferences).toMatchObject(preferences);

    const house = { autonomy: 'full_auto_stop_on_user_deps', riskPolicy: 'balanced' } as const;
    const strict = openTools(directory, { preferences: house });
    const other = value(await strict.start(bugs));
    expect(other.preferences).toEqual(house);
    expect(value(await tools.continue({ stateToken: other.stateToken })).preferences).toEqual(house);
  });

  it('[G11] records capabilities with their provenance, divergences, and unrequested choices', async () => {
    const directory = dataDirectory();
    const tools = openTools(directory);
    const start = value(await tools.start(bugs));
    const call = filledIn(start);
    const next = value(
      await tools.continue({
        ...call,
        output: {
          ...call.output,
          capabilityObservations: [
            { kind: 'attempted_use', capability: 'delegation', result: 'failure', failureCode: 'tool_missing' },
            { kind: 'manual_claim', capability: 'web_browsing', claimedBy: 'agent', claim: 'available' },
          ],
          divergences: [{ reason: 'efficiency_skip', summary: 'Ran it once.', relatedStepId: 'reproduce' }],
          needsFromUser: [{ reason: 'needs_user_choice', summary: 'Which branch?', choice: 'scope_boundary' }],
        },
      }),
    );
    expect(next.kind).toBe('ok');
    expect(next.warnings).toContainEqual({
      code: 'choice_is_assumable',
      message: expect.stringContaining('Which branch?'),
    });
    const events = eventsOf(directory, start.sessionId);
    expect(projectCapabilities(events).get(start.nodeId)).toMatchObject([
      { capability: 'delegation', status: 'unavailable', provenance: { enforcementGrade: 'strong' } },
      { capability: 'web_browsing', status: 'available', provenance: { enforcementGrade: 'weak' } },
    ]);
    const diverged = events.flatMap(event => (event.kind === 'divergence_recorded' ? [event.data.reason] : []));
    expect(diverged).toEqual(['efficiency_skip', 'missing_user_context']);
  });

  it('[G12] waits for the person if a step asks for it; the answer is recorded once and lets the walk continue', async () => {
    const directory = dataDirectory();
    const tools = openTools(directory);
    const desk = openGuidedDesk({ dataDirectory: directory, ports, rng: seededRng(1) });
    const start = value(await tools.start({ workflowId: 'wr.feature-development', context: { slices: ['one'] } }));
    const waiting = await walkUntilBlocked(tools, start);
    expect(waiting.blockers).toMatchObject([{ code: 'USER_ONLY_DEPENDENCY' }]);
    const [open, ...rest] = value(desk.waiting());
    expect([open?.gap.reason.detail, rest]).toEqual(['needs_user_approval', []]);
    if (open === undefined) throw new Error('nothing waits');
    const stale = await desk.answer(open.sessionId, open.gap.gapId, {
      kind: 'approved',
      shown: `${'sha256:'}${'0'.repeat(64)}` as never,
    });
    expect(errorOf(stale).code).toBe('decision/stale-proposal');
    const given = value(await desk.answer(open.sessionId, open.gap.gapId, { kind: 'approved', shown: open.shown }));
    const second = value(await desk.answer(open.sessionId, open.gap.gapId, { kind: 'denied' }));
    expect(second).toEqual(given);
    expect(value(desk.waiting())).toEqual([]);
    const shown = value(await tools.continue(waiting.nextCall?.arguments as never));
    expect(shown.warnings.map(({ code }) => code)).toContain('user_answered');
    const { last } = await walk(tools, shown);
    expect(last.isComplete).toBe(true);
    expect(errorOf(await desk.answer(open.sessionId, start.nodeId as never, { kind: 'approved' })).code).toBe(
      'decision/unknown',
    );
  });

  it('[G13] remembers the workspace of a start, and finds the run by head, branch, notes, name or activity', async () => {
    const directory = dataDirectory();
    const repository = dataDirectory();
    const sha = 'a1b2c3d4'.repeat(5);
    mkdirSync(path.join(repository, '.git/refs/heads/feature'), { recursive: true });
    mkdirSync(path.join(repository, 'src'));
    writeFileSync(path.join(repository, '.git/HEAD'), 'ref: refs/heads/feature/cache\n');
    writeFileSync(path.join(repository, '.git/refs/heads/feature/cache'), `${sha}\n`);
    const tools = openTools(directory);
    const one = value(await tools.start({ ...bugs, workspacePath: path.join(repository, 'src') }));
    const two = value(await tools.start({ workflowId: 'wr.research' }));
    const observed = eventsOf(directory, one.sessionId).flatMap(event =>
      event.kind === 'observation_recorded' ? [event.data] : [],
    );
    expect(observed).toMatchObject([
      { key: 'repo_root_hash', value: { type: 'sha256' }, confidence: 'high' },
      { key: 'repo_root', value: { type: 'path', value: repository }, confidence: 'high' },
      { key: 'git_branch', value: { type: 'short_string', value: 'feature/cache' }, confidence: 'high' },
      { key: 'git_head_sha', value: { type: 'git_sha1', value: sha }, confidence: 'high' },
    ]);
    value(await tools.continue({ ...filledIn(two), output: { notesMarkdown: `About quokkas. ${NOTES}` } }));

    const found = async (input: Parameters<typeof tools.resume>[0]) => {
      const answer = guidedSchemas.resume.answer.parse(value(await tools.resume(input)));
      return answer.candidates.map(({ runId, whyMatched }) => [runId, whyMatched[0]]);
    };
    const both = [two.runId, 'recency_fallback'];
    expect(await found({ workspacePath: repository })).toEqual([[one.runId, 'matched_head_sha'], both]);
    expect(await found({ gitBranch: 'feature' })).toEqual([[one.runId, 'matched_branch'], both]);
    expect((await found({ query: 'QUOKKAS' }))[0]).toEqual([two.runId, 'matched_notes']);
    expect((await found({ query: 'bug investigation' }))[0]).toEqual([one.runId, 'matched_workflow_id']);
    const [candidate] = value(await tools.resume({ query: 'quokkas' })).candidates;
    const taken = value(await openTools(directory).continue(candidate?.nextCall.arguments as never));
    expect(taken).toMatchObject({ runId: two.runId, pending: { prompt: expect.stringContaining('About quokkas.') } });
  });

  it('[G14] continues with the workflow it started with, and reports a changed source', async () => {
    const flows = dataDirectory();
    const flow = (prompt: string) => ({
      id: 'project.short',
      name: 'Short',
      description: 'One step.',
      version: '1.0.0',
      steps: [{ id: 'only', title: 'Only', prompt }],
    });
    writeWorkflow(flows, 'short.json', flow('Do the old thing.'));
    const tools = openTools(dataDirectory(), { directories: [{ kind: 'project', directory: flows }] });
    const start = value(await tools.start({ workflowId: 'project.short' }));
    const codes = async () => {
      const shown = value(await tools.continue({ stateToken: start.stateToken }));
      expect(shown.pending?.prompt).toContain('Do the old thing.');
      return shown.warnings.map(({ code }) => code);
    };
    expect(await codes()).toEqual([]);
    writeWorkflow(flows, 'short.json', flow('Do the new thing, and more.'));
    expect(await codes()).toEqual(['pinned_drift']);
    const end = value(await tools.continue(filledIn(start)));
    expect(end).toMatchObject({ isComplete: true, workflow: start.workflow });
    expect(keysOf([end])).toEqual(['complete']);
  });
});
