import { readFileSync } from 'node:fs';
import { operatorToolsReference } from '@signalbox/server';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import {
  approvalSchema,
  executionSummarySchema,
  exportSchema,
  nodeInstanceSchema,
  stateChangeSchema,
} from '../../src/operator/answer-schemas.ts';
import { newsFields, newsNames, notificationsOf } from '../../src/operator/notifications.ts';
import { agentRun, artifactShown, executionDetail, frameDetail } from '../../src/operator/read-models.ts';
import { operatorResources } from '../../src/operator/resources.ts';
import { operatorTools } from '../../src/operator/tools.ts';
import { scriptedHost } from '../scripted-host.ts';

/** Section 10.3 of the specification, as it stands there with our name in the place of its own. */
const RESOURCES = [
  'signalbox://executions',
  'signalbox://executions/{id}',
  'signalbox://executions/{id}/frames',
  'signalbox://executions/{id}/frames/{index}',
  'signalbox://executions/{id}/events',
  'signalbox://executions/{id}/nodes/{node_id}',
  'signalbox://executions/{id}/nodes/{node_id}/runs',
  'signalbox://executions/{id}/artifacts',
  'signalbox://executions/{id}/approvals',
  'signalbox://scripts',
  'signalbox://health',
];

/** Section 10.4: every tool, its arguments (those with a default in brackets) and what it answers. */
const TOOLS: Readonly<Record<string, readonly [args: string, answer: z.ZodType]>> = {
  // Its `args` are the input of the plan here: plans take one value with a schema, no words of a command line.
  'execution.start': [
    'script [input] [name] [tags] [config] [idempotency_key] [correlation_id]',
    executionSummarySchema,
  ],
  'execution.pause': ['execution_id', executionSummarySchema],
  'execution.resume': ['execution_id', executionSummarySchema],
  'execution.stop': ['execution_id [reason]', executionSummarySchema],
  'execution.terminate': ['execution_id [reason]', executionSummarySchema],
  'execution.export': ['execution_id', exportSchema],
  'node.cancel': ['execution_id node_id', nodeInstanceSchema],
  'node.retry': ['execution_id node_id', nodeInstanceSchema],
  'node.rerun_from': ['execution_id node_id [mode] [overrides]', executionSummarySchema],
  'execution.fork_from_frame': ['execution_id frame_index [new_name]', executionSummarySchema],
  // Without a value the key is taken away.
  'state.set': ['execution_id key [value] trigger', stateChangeSchema],
  'state.update': ['execution_id key op value trigger', stateChangeSchema],
  'approval.respond': ['execution_id approval_id decision [comment]', approvalSchema],
};

/** Section 10.5: every notification, and what it says beside `execution_id`. */
const NOTIFICATIONS: Readonly<Record<string, string>> = {
  'frame.created': 'frame_index reason state_keys_changed',
  'node.updated': 'node_id status run_id',
  'task.updated': 'task_id status',
  'agent.stream': 'run_id chunk_type payload',
  'approval.requested': 'approval_id kind node_id',
  'execution.status': 'status reason',
};

/** Section 10.2: what is read, field by field. */
const SUMMARY = 'id name status started_at updated_at duration_ms model_usage tags';
const FRAME = 'frame_index created_at reason state_keys_changed';
const READ_MODELS: Readonly<Record<string, readonly [fields: string, shown: () => object]>> = {
  ExecutionSummary: [SUMMARY, () => executionSummarySchema.shape],
  ExecutionDetail: [
    `${SUMMARY} script_path config current_frame_index total_frames active_nodes stop_reason`,
    () => executionDetail({} as never, [], []),
  ],
  FrameDetail: [
    `${FRAME} plan_tree state_diff vol_diff events`,
    () => frameDetail({ trigger: {} } as never, { tree: [], changes: {}, volatileChanges: {}, events: [] }),
  ],
  NodeInstanceDetail: [
    'node_id node_type status mounted_at_frame last_seen_frame runs handlers',
    () => nodeInstanceSchema.shape,
  ],
  AgentRunDetail: [
    'run_id node_id model status started_at ended_at turns_used usage output_text output_structured tool_calls error',
    () => agentRun({} as never, null, [], []),
  ],
  ArtifactRecord: [
    'id execution_id node_id frame_id key type content created_at updated_at',
    () => artifactShown('' as never, {} as never),
  ],
  ApprovalRequestRecord: [
    'id execution_id node_id kind payload status requested_at responded_at responder comment',
    () => approvalSchema.shape,
  ],
};

const words = (text: string) => text.split(' ');

describe('the operator’s surface has what the specification names', () => {
  it('[V113] every resource, and no other', () => {
    expect(operatorResources.map(({ uri }) => uri.replace(/\{\?.*$/, ''))).toEqual(RESOURCES);
  });

  it('[V113] every tool, and no other but those of the fleet', () => {
    const names = operatorTools.map(({ name }) => name).filter(name => !name.startsWith('fleet.'));
    expect(names.toSorted()).toEqual(Object.keys(TOOLS).toSorted());
  });

  it.each(Object.entries(TOOLS))('[V113] %s takes and answers what it must', (name, [args, answer]) => {
    const tool = operatorTools.find(each => each.name === name);
    const schema = z.toJSONSchema(tool?.input ?? z.never(), { io: 'input' }) as {
      readonly properties: object;
      readonly required?: readonly string[];
    };
    const wanted = words(args);
    const known = wanted.map(arg => arg.replace(/[[\]]/g, ''));
    expect(Object.keys(schema.properties)).toEqual(expect.arrayContaining(known));
    // Additions to the specification may be absent.
    expect(schema.required ?? []).toEqual(wanted.filter(arg => !arg.startsWith('[')));
    expect(tool?.answer).toBe(answer);
  });

  it.each(operatorTools)(
    '[V114] $name says when to call it, what every argument is, and gives an example that fits',
    each => {
      const { title, description, template, input, annotations } = each;
      expect([title.length > 5, description.length > 150]).toEqual([true, true]);
      const { properties } = z.toJSONSchema(input, { io: 'input' }) as {
        readonly properties: Readonly<Record<string, { readonly description?: string; readonly enum?: unknown }>>;
      };
      const silent = Object.entries(properties).filter(([, field]) => !field.description && !field.enum);
      expect(silent.map(([name]) => name).filter(name => name !== 'new_name')).toEqual([]);
      const id = '01890000-0000-7000-8000-00000000dead';
      const filled = { ...template, ...('approval_id' in template && { approval_id: id }) };
      expect(input.safeParse(filled).error).toBe(undefined);
      expect(annotations.readOnlyHint && annotations.destructiveHint).toBe(false);
    },
  );

  it('[V113] every notification, and no other', () => {
    expect([...newsNames].toSorted()).toEqual(Object.keys(NOTIFICATIONS).toSorted());
  });

  it('[V113] every notification has its required fields', async () => {
    const host = scriptedHost();
    const heard = new Map<string, object>();
    host.feed.subscribe('all', notice => {
      for (const { method, params } of notificationsOf(notice)) heard.set(method, params);
    });
    const run = await host.begin('told');
    await run.render({ id: 'build', kind: 'task' }, { build: 'running' });
    await run.status('build', 'running');
    await run.say(await run.startTask('build'), 'hello');
    await run.ask('build', { tool: 'deploy' });
    await run.become('waiting');
    const said = Object.fromEntries([...heard].map(([method, params]) => [method, Object.keys(params).toSorted()]));
    const wanted = Object.entries(NOTIFICATIONS).map(([name, fields]) => [
      `signalbox.${name}`,
      ['execution_id', ...words(fields)].toSorted(),
    ]);
    expect(said).toEqual(Object.fromEntries(wanted));
    expect(heard.get('signalbox.agent.stream')).toMatchObject({ chunk_type: 'token', payload: { text: 'hello' } });
  });

  it('[V119] the written reference matches the definitions', () => {
    const written = new URL('../../../../docs/reference/operator-tools.md', import.meta.url);
    expect(readFileSync(written, 'utf8'), '`npm run generate` mends it').toBe(operatorToolsReference());
    expect(Object.entries(newsFields).map(([name, fields]) => [name, fields.join(' ')])).toEqual(
      Object.entries(NOTIFICATIONS),
    );
  });

  it.each(Object.entries(READ_MODELS))('[V113] %s has every field', (_, [fields, shown]) => {
    expect(Object.keys(shown())).toEqual(expect.arrayContaining(words(fields)));
  });
});
