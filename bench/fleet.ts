/**
 * Events of agents, from the transport to committed and published, next to their floor, in JSON lines.
 *
 *   node bench/fleet.ts [--dir DIR] [--events N] [--rounds N]
 *
 * throughput  1, 10 and 50 agents that always have some messages waiting. The floor checks each message by hand and inserts it with one
 *             prepared statement, 64 to a transaction.
 * latency     2,000 events a second from as many agents, from the transport to the listener.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { parseArgs } from 'node:util';
import { defaultFleetConfig } from '@signalbox/fleet';
import { type AgentId, type AgentPlugin, deriveId, err, type Json, ok, type ProjectId } from '@signalbox/model';
import { openStore } from '@signalbox/store';
import { openFleetHost } from '../packages/app/src/fleet/fleet-host.ts';
import { thisMachine } from '../packages/app/src/machine.ts';
import { figure, goal, quantile, round3, timed } from './figures.ts';

const { values } = parseArgs({
  options: {
    dir: { type: 'string', default: tmpdir() },
    events: { type: 'string', default: '3000' },
    rounds: { type: 'string', default: '3' },
  },
});
const events = Number(values.events);
const rounds = Number(values.rounds);
const root = mkdtempSync(path.join(values.dir, 'signalbox-bench-fleet-'));
/** Messages of all agents that wait at the same time, at most. */
const IN_FLIGHT = 256;
const PACE = { eventsPerSecond: 2_000, everyMs: 10 };

/** Starts agents and does nothing else. */
const gone = async () => err({ code: 'invalid_state', message: 'The bench has no process.' } as const);
const plugin: AgentPlugin = {
  name: 'bench',
  version: '1',
  capabilities: { supportsPause: false, supportsResume: false, supportsKill: true, supportsHotBriefUpdate: false },
  spawn: async brief => ok({ id: brief.agentId, pluginName: 'bench', status: 'running', sessionId: 'bench' }),
  pause: gone,
  resume: gone,
  kill: gone,
  resolveDecision: async () => ok(undefined),
  injectContext: async () => ok(undefined),
  updateBrief: gone,
};

try {
  const rates = new Map<number, number[]>();
  for (const agents of [1, 10, 50]) {
    const shares: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const before = floorRate(`${agents}-${round}-before`);
      const rate = await throughput(agents, round);
      const floor = (before + floorRate(`${agents}-${round}-after`)) / 2;
      rates.set(agents, [...(rates.get(agents) ?? []), rate]);
      shares.push(rate / floor);
      figure('events a second', { agents, value: Math.round(rate), floor: Math.round(floor) });
    }
    goal(`events of ${agents} agents, of the floor`, shares, 'at least', 0.5);
  }
  const [ten = [], fifty = []] = [rates.get(10), rates.get(50)];
  goal(
    'events of 50 agents, of those of 10',
    fifty.map((rate, at) => rate / (ten[at] ?? rate)),
    'at least',
    0.9,
  );
  for (const agents of [1, 10, 50]) await latency(agents);
} finally {
  rmSync(root, { recursive: true, force: true });
}

async function throughput(count: number, round: number): Promise<number> {
  const fleet = await openFleet(count, `throughput-${count}-${round}`);
  const ms = await timed(async () => {
    for (let sent = 0; sent < events; sent++) {
      fleet.send(sent % count);
      if (sent - fleet.published() >= IN_FLIGHT) await fleet.untilPublished(sent - IN_FLIGHT / 2);
    }
    await fleet.untilPublished(events);
  });
  await fleet.close();
  return (events / ms) * 1_000;
}

async function latency(count: number): Promise<void> {
  const fleet = await openFleet(count, `latency-${count}`);
  const perStep = (PACE.eventsPerSecond * PACE.everyMs) / 1_000;
  const begun = performance.now();
  for (let sent = 0; sent < events; ) {
    const due = Math.min(events, Math.ceil((performance.now() - begun) / PACE.everyMs) * perStep);
    for (; sent < due; sent++) fleet.send(sent % count);
    await new Promise(resolve => setTimeout(resolve, PACE.everyMs / 2));
  }
  await fleet.untilPublished(events);
  const found = fleet.latencies();
  const perSecond = Math.round(events / ((performance.now() - begun) / 1_000));
  goal(`latency of events of ${count} agents, p95 in ms`, [quantile(found, 0.95)], 'at most', 20, {
    p50: round3(quantile(found, 0.5)),
    perSecond,
  });
  await fleet.close();
}

/** A fleet with agents that are started, and messages that a bench sends for them. */
async function openFleet(count: number, name: string) {
  const directory = path.join(root, name);
  mkdirSync(directory);
  const store = openStore({ path: path.join(directory, 'db.sqlite') });
  if (!store.ok) throw new Error(store.error.message);
  const agents = Array.from({ length: count }, (_, n) => deriveId<AgentId>('bench-agent', n));
  const sinks: ((message: unknown) => void)[] = [];
  const sentAt = new Map<string, number>();
  const latencies: number[] = [];
  let waiting: { readonly for: number; readonly resolve: () => void } | undefined;
  const host = await openFleetHost({
    project: deriveId<ProjectId>('bench-project', name),
    log: store.value,
    machine: thisMachine(),
    filter: { data: value => value, has: () => false },
    config: defaultFleetConfig,
    plugins: [
      ports => {
        for (const agent of agents) sinks.push(ports.transportOf(agent).eventSink);
        const session = (agent: AgentId) => deriveId<AgentId>('bench-session', agent);
        return { plugin, toolClassifications: [], sessionOf: session, replay: () => false, close: async () => {} };
      },
    ],
    onFault: thrown => {
      throw thrown;
    },
  });
  for (const [n, agentId] of agents.entries()) {
    const template = { role: 'Bench', workstream: 'main' };
    const name = `agent ${n}`;
    await host.happen({
      kind: 'agent_requested',
      agentId,
      name,
      pluginName: 'bench',
      template,
      changes: {},
      by: 'bench',
    });
  }
  await host.idle();
  host.subscribe(message => {
    if (message.type !== 'event') return;
    const at = sentAt.get(message.envelope.sourceEventId);
    if (at === undefined) return;
    latencies.push(performance.now() - at);
    if (waiting !== undefined && latencies.length >= waiting.for) waiting.resolve();
  });
  const sequences = agents.map(() => 0);
  return {
    published: () => latencies.length,
    latencies: () => latencies,
    send(n: number) {
      const agentId = agents[n] as AgentId;
      const message = messageOf(agentId, sequences[n] ?? 0);
      sequences[n] = (sequences[n] ?? 0) + 1;
      sentAt.set(message.sourceEventId, performance.now());
      sinks[n]?.(message);
    },
    async untilPublished(number: number) {
      if (latencies.length >= number) return;
      await new Promise<void>(resolve => {
        waiting = { for: number, resolve };
      });
      waiting = undefined;
    },
    async close() {
      await host.close();
      store.value.close();
    },
  };
}

function messageOf(agentId: AgentId, sequence: number) {
  return {
    sourceEventId: deriveId<AgentId>('bench-event', agentId, sequence),
    sourceSequence: sequence,
    sourceOccurredAt: new Date().toISOString(),
    runId: deriveId<AgentId>('bench-session', agentId),
    event: {
      type: 'status',
      agentId,
      message: `Reading file ${sequence} of the project, and what it says about the next one`,
    },
  } satisfies Json;
}

/** Events a second of the floor. */
function floorRate(name: string): number {
  const database = new DatabaseSync(path.join(root, `floor-${name}.sqlite`));
  database.exec(
    'pragma journal_mode = wal; pragma synchronous = full; create table events (id text primary key, body text)',
  );
  const insert = database.prepare('insert into events values (?, ?)');
  const agent = deriveId<AgentId>('bench-agent', 0);
  const begun = performance.now();
  for (let sent = 0; sent < events; sent += 64) {
    database.exec('begin immediate');
    for (let n = sent; n < Math.min(events, sent + 64); n++) {
      const message = messageOf(agent, n);
      if (!isEvent(message)) throw new Error('the floor has no valid message');
      insert.run(message.sourceEventId, JSON.stringify(message));
    }
    database.exec('commit');
  }
  const ms = performance.now() - begun;
  database.close();
  return (events / ms) * 1_000;
}

function isEvent({
  sourceEventId,
  sourceSequence,
  sourceOccurredAt,
  runId,
  event,
}: ReturnType<typeof messageOf>): boolean {
  return (
    typeof sourceEventId === 'string' &&
    Number.isInteger(sourceSequence) &&
    !Number.isNaN(Date.parse(sourceOccurredAt)) &&
    typeof runId === 'string' &&
    event.type === 'status' &&
    typeof event.message === 'string'
  );
}
