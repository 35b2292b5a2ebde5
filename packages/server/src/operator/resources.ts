import { MANY, readTree, withAsking } from '@signalbox/app/all-runs';
import { CONTRACT_VERSION, type ErrorEnvelope, err, ok, type Result, runKind, runStatus } from '@signalbox/model';
import * as z from 'zod';
import type { OperatorResourceKey } from '../access/access-table.ts';
import { unknownFrame, unknownRun } from '../routes/known-run.ts';
import { HEALTH, SCHEME } from './address.ts';
import {
  agentRun,
  approvalRecord,
  approvalShown,
  artifactShown,
  executionDetail,
  frameDetail,
  frameSummary,
  guidedDetail,
  guidedSummary,
  nodeInstance,
  providerStanding,
  script,
  scriptDetail,
} from './read-models.ts';
import {
  changesIn,
  eventsOfFrame,
  type OperatorHost,
  ofNode,
  ofRun,
  type ResourcePlace,
  seenIn,
  summaryOf,
  tasksOf,
  volatileChangesIn,
  withQuery,
} from './resource-reads.ts';

/** What a program of an operator can read, by address (PRD 10.3). */
export interface OperatorResource {
  readonly name: OperatorResourceKey;
  /** The row of the access table that a query needs, where it is not that of the name. */
  accessOf?(query: URLSearchParams): OperatorResourceKey;
  /** An RFC 6570 template; what is in the query may be left out. */
  readonly uri: string;
  readonly description: string;
  read(host: OperatorHost, place: ResourcePlace): Promise<Result<object, ErrorEnvelope>>;
}

const PAGE = 100;
const MOST = 500;

const page = z.object({
  from: z.coerce.number().pipe(z.int().nonnegative()).optional(),
  limit: z.coerce.number().pipe(z.int().min(1).max(MOST)).optional(),
});
const listPage = z.object({
  kind: runKind.optional(),
  status: runStatus.optional(),
  name: z.string().optional(),
  tag: z.string().optional(),
  after: z.string().optional(),
  limit: page.shape.limit,
});

const scriptsPage = z.object({
  file: z.string().min(1).max(4096).optional(),
  after: z.string().optional(),
  limit: page.shape.limit,
});

export const operatorResources: readonly OperatorResource[] = [
  {
    name: 'executions',
    uri: `${SCHEME}executions{?kind,status,name,tag,after,limit}`,
    description:
      'Executions of plans, and guided ones that agents elsewhere walk, newest first. Go on with "after" = the "next" of the page before.',
    read: (host, { query }) =>
      withQuery(query, listPage, async ({ status, limit = PAGE, ...asked }) => {
        const page = await host.runs.list({ ...asked, limit, ...(status && { status: [status] }) });
        if (!page.ok) return page;
        const { items, next } = page.value;
        const executions = items.map(run => (run.kind === 'guided' ? guidedSummary(run) : summaryOf(host, run.record)));
        return ok({ executions: await Promise.all(executions), next: next ?? null });
      }),
  },
  {
    name: 'execution',
    uri: `${SCHEME}executions/{id}`,
    description: 'One execution: what it runs, where it stands, what it spent and gave back.',
    read: (host, place) =>
      ofRun<object>(
        host,
        place,
        async record => {
          const open = await host.reader.decisions({ run: record.id, status: ['open'] });
          const tree = withAsking(await readTree(host.reader, record.id, record.frames), open);
          const spending = await host.reader.spending({ run: record.id });
          return ok(
            executionDetail(
              record,
              spending,
              tree.map(({ node }) => node),
            ),
          );
        },
        async id => {
          const shown = await host.runs.show(id);
          if (!shown.ok) return shown;
          return shown.value === undefined ? err(unknownRun(id)) : ok(guidedDetail(shown.value));
        },
      ),
  },
  {
    name: 'frames',
    uri: `${SCHEME}executions/{id}/frames{?from,limit}`,
    description: 'Frames of an execution, oldest first: what made each, and which keys of state it wrote.',
    read: (host, place) =>
      ofRun(host, place, ({ id }) =>
        withQuery(place.query, page, async ({ from = 0, limit = PAGE }) => {
          const frames = await host.reader.frames(id, from, limit);
          return ok({ frames: frames.map(frameSummary), next: from + frames.length });
        }),
      ),
  },
  {
    name: 'frame',
    uri: `${SCHEME}executions/{id}/frames/{index}`,
    description: 'One frame: the tree of the plan, what changed in state, and the events of the frame.',
    read: (host, place) =>
      ofRun(host, place, async record => {
        const { id, frames } = record;
        const index = Number(place.parts[1]);
        const frame = Number.isInteger(index) && index >= 0 ? await host.reader.frame(id, index) : undefined;
        if (frame === undefined) return err(unknownFrame(id, frames));
        const tree = await readTree(host.reader, id, index);
        return ok(
          frameDetail(frame, {
            tree: tree.map(({ node }) => node),
            changes: await changesIn(host, id, index),
            volatileChanges: await volatileChangesIn(host, id, index),
            events: await eventsOfFrame(host, record, index),
          }),
        );
      }),
  },
  {
    name: 'events',
    uri: `${SCHEME}executions/{id}/events{?from,limit}`,
    description: 'Events of an execution in order, each with the hash of the chain after it.',
    read: (host, place) =>
      withQuery(place.query, page, async ({ from = 0, limit = PAGE }) =>
        ofRun<object>(
          host,
          place,
          async ({ id }) => {
            const events = await host.reader.events(id, from, limit);
            return ok({ events, next: from + events.length });
          },
          async id => {
            const events = await host.runs.events(id, { from, limit, view: 'contract' });
            if (!events.ok) return events;
            return ok({ events: events.value ?? [], next: from + (events.value?.length ?? 0) });
          },
        ),
      ),
  },
  {
    name: 'node',
    uri: `${SCHEME}executions/{id}/nodes/{node_id}`,
    description: 'One node of the plan: its status, the file and line it stands in, and the work done for it.',
    read: (host, place) =>
      ofNode(host, place, async (record, { node }) => {
        const seen = await seenIn(host, record, node.id);
        const tasks = await tasksOf(host, record, node.id);
        return ok(nodeInstance(node, seen, tasks));
      }),
  },
  {
    name: 'node-runs',
    uri: `${SCHEME}executions/{id}/nodes/{node_id}/runs`,
    description: 'What agents did for a node: one entry for each time, with tokens, tool calls and result.',
    read: (host, place) =>
      ofNode(host, place, async (record, { node, data }) => {
        const model = typeof data.model === 'string' ? data.model : null;
        const tasks = await tasksOf(host, record, node.id);
        const runs = tasks.map(async task => {
          const chunks = await host.reader.stream(record.id, task.id, 0, STREAM_MOST);
          const spending = await host.reader.spending({ run: record.id, task: task.id });
          return agentRun(task, model, spending, chunks);
        });
        return ok({ runs: await Promise.all(runs) });
      }),
  },
  {
    name: 'artifacts',
    uri: `${SCHEME}executions/{id}/artifacts{?from,limit}`,
    description:
      'What an execution produced for people to look at, oldest first. A short content is here, a longer one under its reference.',
    read: (host, place) =>
      ofRun(host, place, ({ id }) =>
        withQuery(place.query, page, async ({ from = 0, limit = PAGE }) => {
          const shown = (await host.reader.artifacts(id)).slice(from, from + limit);
          return ok({ artifacts: shown.map(record => artifactShown(id, record)), next: from + shown.length });
        }),
      ),
  },
  {
    name: 'approvals',
    uri: `${SCHEME}executions/{id}/approvals`,
    description: 'What waits for a person in an execution.',
    read: (host, place) =>
      ofRun<object>(
        host,
        place,
        async ({ id }) => {
          const open = await host.reader.decisions({ run: id, status: ['open'] });
          return ok({ approvals: open.map(({ decision }) => approvalRecord(id, decision)) });
        },
        async id => {
          const open = await host.runs.decisions({ run: id, limit: MANY });
          return open.ok ? ok({ approvals: open.value.items.map(approvalShown) }) : open;
        },
      ),
  },
  {
    name: 'scripts',
    accessOf: query => (query.has('file') ? 'scripts?file' : 'scripts'),
    uri: `${SCHEME}scripts{?file,after,limit}`,
    description:
      'Plans that were run here, the one that ran last first. Go on with "after" = the "next" of the page before. With "file", that plan alone, and the JSON Schema of the input that it takes; it is not run.',
    read: (host, { query }) =>
      withQuery(query, scriptsPage, async ({ file, after, limit = PAGE }) => {
        if (file !== undefined) {
          const described = await host.inspection.describePlan(file);
          return described.ok ? ok(scriptDetail(described.value)) : described;
        }
        const known = await host.inspection.plans({ after, limit });
        return known.ok ? ok({ scripts: known.value.plans.map(script), next: known.value.next ?? null }) : known;
      }),
  },
  {
    name: 'health',
    uri: HEALTH,
    description:
      'Whether the server works, how much it drives, what waits for a person, how the providers of models do and what is left of their rate limits.',
    async read(host) {
      const waiting = await host.reader.decisions({ status: ['open'] });
      return ok({
        status: 'ok',
        contract_version: CONTRACT_VERSION,
        driven: host.driven().length,
        waiting: waiting.length,
        providers: host.providers.list().providers.map(providerStanding),
      });
    },
  },
];

/** Transcripts are long; what an agent said beyond this is in the stream of its task. */
const STREAM_MOST = 5_000;

interface FoundResource {
  readonly resource: OperatorResource;
  readonly place: ResourcePlace;
  /** Its row of the access table. */
  readonly access: OperatorResourceKey;
}

/** The resource at an address, and its place in it. */
export function resourceAt(address: string): FoundResource | undefined {
  if (!address.startsWith(SCHEME)) return undefined;
  const [path = '', query = ''] = address.slice(SCHEME.length).split('?', 2);
  const given = path.split('/').map(decoded);
  if (given.includes(undefined)) return undefined;
  for (const resource of operatorResources) {
    const wanted = resource.uri
      .slice(SCHEME.length)
      .replace(/\{\?.*$/, '')
      .split('/');
    if (wanted.length !== given.length) continue;
    const fits = wanted.every((part, index) => part.startsWith('{') || part === given[index]);
    if (!fits) continue;
    const parts = given.filter((_, index) => wanted[index]?.startsWith('{')) as string[];
    const asked = new URLSearchParams(query);
    return { resource, place: { parts, query: asked }, access: resource.accessOf?.(asked) ?? resource.name };
  }
  return undefined;
}

function decoded(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}
