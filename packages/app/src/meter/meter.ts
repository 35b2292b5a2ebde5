import { createHash, randomBytes } from 'node:crypto';
import type { AgentRow } from '@signalbox/adapters/agents';
import { LIST_PRICES, limitWindows, type Prices, priceOf } from '@signalbox/adapters/metering';
import type { Digest, Json } from '@signalbox/model';
import type { AgentSession, Assignment, CallLog, CallOfModel, CallReport, ModelName } from '@signalbox/runs';
import type { Machine } from '../machine.ts';
import { createAnswerTap } from './answer-tap.ts';
import { callEstimate, DEFAULT_OUTPUT, estimateInput, requestBody } from './call-estimate.ts';
import { reportOfAnswer } from './call-report.ts';
import { inputOnly, spentBy } from './call-spending.ts';
import { sentTap } from './decoded-tap.ts';
import type { AgentRequest, CallEnd, MeterEdge, MeteredCall, MeterPlace, MeterVerdict } from './door.ts';
import { KEPT_ANSWER, type KeptCalls } from './kept-calls.ts';
import { type Access, accessesOf, settingsOf } from './meter-access.ts';
import { wireOfCall, wires } from './wires/index.ts';
import { member, name, type Wire } from './wires/wire.ts';

export interface MeterPorts {
  readonly edge: MeterEdge;
  readonly machine: Pick<Machine, 'clock' | 'ids'>;
  /** Takes precedence over the list of prices. */
  readonly prices?: Prices;
  /** Keeps what goes to models and comes back. */
  readonly kept?: KeptCalls | undefined;
  /** Told of everything that is refused. */
  readonly log: (words: string, fields: Readonly<Record<string, Json>>) => void;
}

/**
 * The door to the models: every call of every agent goes through it, and is counted or refused there.
 *
 * 1. A key belongs to one attempt. It opens the door while that attempt lasts, and nothing else; the real key never leaves our process but to
 *    the provider.
 * 2. A call goes out only once what it may spend is reserved, and its answer ends only once what it spent is committed.
 * 3. Once a call is refused at a limit, so is everything else that the attempt asks for.
 */
export interface Meter {
  /** Undefined if the agent's way to its model cannot be replaced here: its calls pass beside the meter. */
  open(turn: TurnToMeter): Promise<MeteredTurn | undefined>;
  close(): Promise<void>;
}

interface TurnToMeter {
  readonly row: AgentRow;
  readonly assignment: Pick<Assignment, 'run' | 'task' | 'node' | 'attempt'>;
  readonly session: Pick<AgentSession, 'admit' | 'calls' | 'signal'>;
  /** The user's variables. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Limits of the run or of one above it. With one of cost, a model without a known price is refused. */
  readonly limited: { readonly tokens: boolean; readonly cost: boolean };
}

export interface MeteredTurn {
  /** The agent's variables: its own keys in the place of the real ones. */
  readonly keys: Readonly<Record<string, string>>;
  /** Variables that lead it to the meter. They win over its row's. */
  readonly settings: Readonly<Record<string, string>>;
  /** Settles when a call was refused for good. */
  readonly refused: Promise<TurnRefusal>;
  /** Why a call was refused; undefined if none was. */
  refusal(): TurnRefusal | undefined;
  /** Its keys are void; settles when all that its calls spent is committed. */
  close(): Promise<void>;
}

interface TurnRefusal {
  readonly code: 'budget-exceeded' | 'price-unknown';
  readonly reason: string;
  /** What the task waits for, if a person was asked. */
  readonly waits?: string;
  /** When the refusal was decided. */
  readonly at: number;
}

/** Requests that spend nothing. */
const FREE = [/^(?:GET|HEAD) .*\/models(?:\/[^/:]+)?$/, /^POST .*\/messages\/count_tokens$/, /^POST .*:countTokens$/];
const MOST_KNOWN = 1_000;
const MOST_LEFT = 16;

export function createMeter({ edge, machine, prices = {}, kept, log }: MeterPorts): Meter {
  /** Attempts by the digests of their keys, also some that have ended: whoever uses a key where it is not good is named in the log. */
  const known = new Map<string, Json>();
  /** Addresses of attempts that have ended. A few of them stay, so that it is seen who uses them. */
  const left: MeterPlace[] = [];

  return {
    async open(turn) {
      const { row, assignment, env, limited } = turn;
      const accesses = accessesOf(row, env);
      const { calls } = turn.session;
      if (row.meter === undefined || accesses.length === 0 || calls === undefined) return undefined;
      const { run, node, attempt } = assignment;
      const open = openTurn(turn, calls, row.meter.refusal);
      const held = new Map<string, Access>();
      const keys: Record<string, string> = {};
      for (const access of accesses) {
        const key = `sk-signalbox-${randomBytes(24).toString('base64url')}`;
        keys[access.variable] = key;
        held.set(digestOf(key), access);
        known.set(digestOf(key), { run, node, attempt });
      }
      const place = await edge.listen({
        holder(key) {
          const access = held.get(digestOf(key));
          if (access === undefined) return undefined;
          return { real: access.real, upstream: access.upstream, ask: request => open.ask(request, access) };
        },
        turnedAway({ method, path }, why, key) {
          const keyOf = key === undefined ? undefined : known.get(digestOf(key));
          const fields = { run, node, attempt, why, method, path, ...(keyOf !== undefined && { keyOf }) };
          log('a call at the meter was refused', fields);
        },
      });
      const settings = { ...row.meter.settings, ...((limited.tokens || limited.cost) && row.meter.limited) };
      return {
        keys,
        settings: settingsOf(accesses, settings, { url: place.url, key: Object.values(keys)[0] ?? '' }),
        refused: open.refused,
        refusal: open.refusal,
        async close() {
          held.clear();
          left.push(place);
          for (const digest of [...known.keys()].slice(0, Math.max(0, known.size - MOST_KNOWN))) known.delete(digest);
          await open.close();
          for (const old of left.splice(0, Math.max(0, left.length - MOST_LEFT))) await old.close();
        },
      };
    },
    close: edge.close,
  };

  function openTurn({ row, assignment, session, limited }: TurnToMeter, calls: CallLog, refusalStatus: number) {
    const over = new AbortController();
    const refused = Promise.withResolvers<TurnRefusal>();
    let refusal: TurnRefusal | undefined;
    const pending = new Set<Promise<void>>();
    const { run, node, attempt } = assignment;
    const assignmentFields = { run, node, attempt };

    async function refuse(why: Omit<TurnRefusal, 'at'>, of: CallOfModel): Promise<void> {
      if (refusal !== undefined) return;
      refusal = { ...why, at: machine.clock.now() };
      log('a call was refused at a limit', { ...assignmentFields, why: why.reason });
      await calls.refused({ ...of, reason: why.reason });
      refused.resolve(refusal);
    }

    const answerOf = (wire: Wire): MeterVerdict => {
      const reason = refusal?.reason ?? 'The attempt has ended.';
      return { kind: 'refuse', status: refusalStatus, body: wire.refusal(refusalStatus, `Signalbox: ${reason}`) };
    };

    async function ask(request: AgentRequest, access: Access): Promise<MeterVerdict> {
      const { method, path, headers, body } = request;
      const found = wireOfCall(method, path);
      const wire = found?.wire ?? wires[access.wire];
      if (refusal !== undefined || over.signal.aborted) return answerOf(wire);
      if (found === undefined) {
        const isFree = FREE.some(free => free.test(`${method} ${path}`)) && (method === 'POST' || body.length === 0);
        if (isFree) return { kind: 'pass' };
        log('a call that the meter cannot count was refused', { ...assignmentFields, method, path });
        return { kind: 'refuse', status: 403, body: wire.refusal(403, UNCOUNTED) };
      }
      const data = requestBody(body, headers['content-encoding']);
      const output = data && (wire.maxOutput(data) ?? DEFAULT_OUTPUT) * Math.max(1, wire.answers(data));
      if (data === undefined || output === undefined || !Number.isSafeInteger(output)) {
        log('a call that the meter cannot count was refused', { ...assignmentFields, method, path });
        return { kind: 'refuse', status: 400, body: wire.refusal(400, UNREADABLE) };
      }
      const model = found.model ?? name(member(data, 'model')) ?? 'unknown';
      const called: ModelName = { provider: access.provider, model };
      const id = `model/${machine.ids.mint()}`;
      const of: CallOfModel = { call: id, ...called, subagent: subagentOf(row.meter?.subagents, headers) };
      const price = priceOf(called, prices) ?? priceOf(called, LIST_PRICES);
      if (price === undefined && limited.cost) {
        await refuse({ code: 'price-unknown', reason: priceUnknown(called) }, of);
        return answerOf(wire);
      }
      const input = estimateInput(data);
      const estimate = callEstimate(input, output, price);
      const admission = await session.admit(called, estimate);
      if (admission.kind === 'stop') {
        const { reason, waits } = admission;
        const why = { code: 'budget-exceeded', reason, ...(waits !== undefined && { waits }) } as const;
        if (!session.signal.aborted) await refuse(why, of);
        return answerOf(wire);
      }
      const { release } = admission;
      if (over.signal.aborted || refusal !== undefined) {
        release();
        return answerOf(wire);
      }
      const startedAt = machine.clock.now();
      const done = Promise.withResolvers<void>();
      const isDone = () => {
        release();
        pending.delete(done.promise);
        done.resolve();
      };
      pending.add(done.promise);
      try {
        await calls.began({ ...of, input, output, costMicroUsd: estimate.costMicroUsd });
      } catch (thrown) {
        isDone();
        throw thrown;
      }
      let keeping: Promise<Digest | undefined> | undefined;
      /** Takes time that neither the request nor the first byte of its answer waits for. */
      const keep = () => {
        keeping ??= kept?.request(assignment.run, data).catch(() => undefined);
        return keeping;
      };
      let status: number | undefined;
      let report: CallReport | undefined;
      let tap: ReturnType<typeof createAnswerTap> | undefined;
      let sent: ReturnType<typeof sentTap>;
      let settling: Promise<void> | undefined;
      const call: MeteredCall = {
        signal: over.signal,
        answered(code, head) {
          const now = machine.clock.now();
          status = code;
          report = reportOfAnswer(code, head, limitWindows(head, now), now);
          if (code >= 400) return;
          tap = createAnswerTap(wire, isEvents(head) ? 'events' : 'json', kept === undefined ? 0 : KEPT_ANSWER);
          sent = sentTap(tap, head['content-encoding']);
        },
        take(chunk) {
          if (keeping === undefined) setImmediate(keep);
          return sent?.take(chunk) ?? false;
        },
        settle: how => (settling ??= settled(how)),
      };
      async function settled(how: CallEnd): Promise<void> {
        try {
          await sent?.end();
          const wallMs = Math.max(0, Math.round(machine.clock.now() - startedAt));
          const spent = tap && spentBy(tap, { input, price, isCut: how !== 'ended' });
          const outcome = how !== 'ended' ? 'cut' : tap === undefined ? 'refused' : 'answered';
          // Without an answer that can be read, nothing is known: a provider may have spent all that its input takes.
          const lost = tap === undefined && (status === undefined || status < 400) && how === 'cut';
          const usage = spent?.usage ?? (lost ? inputOnly(input, price) : undefined);
          const unknown = spent?.unknown ?? (lost ? (['input', 'output'] as const) : []);
          const answer = tap && (await kept?.answer(assignment.run, tap.text()).catch(() => undefined));
          const contents = { request: await keep(), answer };
          await calls.ended({ ...of, outcome, status, unknown, ...contents }, usage && { ...called, ...usage, wallMs });
          release(how === 'ended' ? report : undefined);
        } finally {
          // Where nothing could be committed, the agent is not given the end of its answer.
          isDone();
        }
      }
      return { kind: 'pass', call };
    }

    return {
      ask,
      refused: refused.promise,
      refusal: () => refusal,
      async close() {
        over.abort();
        await Promise.all(pending);
      },
    };
  }
}

const UNREADABLE =
  'Signalbox: this request cannot be counted, so it is not passed on. Its body must be one JSON object, and its limits whole numbers.';
const UNCOUNTED = 'Signalbox: this request cannot be counted, so it is not passed on.';

/** Whose call a request is, by its headers. They are the agent's word, which nothing else depends on. */
function subagentOf(
  told: NonNullable<AgentRow['meter']>['subagents'],
  headers: AgentRequest['headers'],
): CallOfModel['subagent'] {
  if (told === undefined) return undefined;
  const of = (header: string | undefined) => (header === undefined ? undefined : shortName(headers[header]));
  if (headers[told.mark] === undefined) return null;
  const [id, parent, kind] = [of(told.id), of(told.parent), of(told.kind)];
  return id === undefined ? undefined : { id, ...(parent && { parent }), ...(kind && { kind }) };
}

const shortName = (given: string | undefined) => (/^[\w.:/@-]{1,128}$/.test(given ?? '') ? given : undefined);

function priceUnknown({ provider, model }: ModelName): string {
  return `No price is known of ${provider}:${model}, in a run that limits its cost.`;
}

function isEvents(headers: Readonly<Record<string, string | undefined>>): boolean {
  return /^text\/event-stream/i.test(headers['content-type'] ?? '');
}

function digestOf(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}
