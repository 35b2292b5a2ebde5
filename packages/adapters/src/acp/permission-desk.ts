import { RequestError, type RequestPermissionRequest, type RequestPermissionResponse } from '@agentclientprotocol/sdk';
import type { SecretMac } from '@signalbox/model';
import type { AgentQuestion, AgentSession, Assignment, DecisionKind } from '@signalbox/runs';
import { plainData } from '../attempt/plain-data.ts';
import type { Redactor } from '../attempt/redaction.ts';
import { hasInput, identityOf, kindOf } from './asked-call.ts';
import type { LeftSession } from './left-session.ts';
import { allowed, decisionKindOf, denied, type Permission, permissionOf, proposalOf, ruleFor } from './permission.ts';
import type { AgentRow, InstalledAgent } from './register.ts';
import { type ToolCallFields, toolCall } from './session-update.ts';
import { shownAs } from './shown-hash.ts';
import type { AskedCall, TurnBook } from './turn-book.ts';

export interface DeskContext {
  readonly assignment: Assignment;
  readonly row: AgentRow;
  readonly installed: InstalledAgent;
  readonly session: Pick<AgentSession, 'answered' | 'signal'>;
  readonly book: TurnBook;
  readonly redact: Redactor;
  readonly parkMs: number;
  readonly mac: SecretMac;
  /** The agent's session; undefined before it is open. */
  vendorSession(): string | undefined;
  /** Nobody answered in time: the process need not wait any longer. */
  parked(kind: DecisionKind): void;
  /** The turn ended while people were asked: nothing more may be kept. */
  isOver(): boolean;
}

/** The most questions that wait at the same time. */
const MAX_OPEN = 32;
/** The longest proposal that a person is shown. */
const MAX_PROPOSAL = 1_000_000;

/**
 * Answers an agent's requests for permission.
 *
 * 1. Nothing is allowed that a person, the plan or the node did not allow.
 * 2. A question is named by what is asked, so that the same answer is found when it is asked again (R24).
 * 3. A person's own arguments need no second approval: a call with exactly these is allowed, once.
 */
export type PermissionDesk = ReturnType<typeof createPermissionDesk>;

export function createPermissionDesk(context: DeskContext) {
  const { assignment, row, book } = context;
  const open = new Map<string, DecisionKind>();
  const words: string[] = [];
  let commands = 0;
  /** Denials that the agent sees by the answer alone. */
  const unsaid: string[] = [];
  /** Calls as people want them, by identity. */
  const wanted: string[] = [];

  const vendor = () => ({ session: context.vendorSession() ?? '', volatile: row.volatile, mac: context.mac });

  async function decided({ call, told, name, why }: AskedCall, options: Options): Promise<Permission | undefined> {
    const rule = ruleFor(told, assignment);
    if (rule.kind === 'deny') return denied(options, 'not-needed', rule.reason);
    if (rule.kind === 'allow') return allowed(options, 'not-needed');
    if (book.isAlways(call)) return allowed(options, 'approve');
    const granted = hasInput(told) ? wanted.indexOf(identityOf(told, vendor())) : -1;
    if (granted >= 0) {
      wanted.splice(granted, 1);
      return allowed(options, 'modify');
    }
    if (open.size >= MAX_OPEN) return denied(options, 'not-needed', `${MAX_OPEN} questions are already open.`);
    const full = proposalOf(told, options, { ...context, why });
    const proposal = context.redact.data(full);
    if (JSON.stringify(proposal).length > MAX_PROPOSAL)
      return denied(options, 'not-needed', `It is longer than a person can be shown (${MAX_PROPOSAL} characters).`);
    const kind = decisionKindOf(kindOf(told));
    const answer = await answerTo({ call: name, kind, proposal, ...shownAs(full, context.mac) });
    if (answer === undefined) return undefined;
    return permissionOf(answer, told, options);
  }

  /** Words for the agent's next prompt, which may be in another process. */
  function tellLater(
    { told }: Pick<AskedCall, 'told'>,
    { words: text, instead }: Extract<Permission, { kind: 'deny' }>,
  ): void {
    if (text === undefined) return;
    const identity = instead === undefined ? undefined : identityOf(told, vendor(), instead);
    if (identity !== undefined) wanted.push(identity);
    words.push(text);
    book.keep({ v: 1, kind: 'to_tell', text, ...(identity !== undefined && { wanted: identity }) });
  }

  /** A person's answer; undefined if the turn ends without one. */
  async function answerTo(question: AgentQuestion) {
    open.set(question.call, question.kind);
    const answer = await context.session.answered(question, context.parkMs);
    if (answer !== undefined) open.delete(question.call);
    else if (!context.session.signal.aborted && !context.isOver()) context.parked(question.kind);
    return answer;
  }

  async function requested(params: RequestPermissionRequest): Promise<RequestPermissionResponse> {
    const fields = toolCall.safeParse(params.toolCall);
    if (!fields.success) throw RequestError.invalidParams(undefined, 'the tool call cannot be read');
    const asked = await book.asked(fields.data);
    const { call } = asked;
    const permission = await decided(asked, params.options);
    if (permission === undefined || context.isOver()) return { outcome: { outcome: 'cancelled' } };
    book.decided(call, permission);
    if (permission.kind === 'deny') tellLater(asked, permission);
    await book.settled();
    if (permission.kind === 'deny' && permission.words === undefined)
      unsaid.push(`The call "${call.told.title ?? ''}" was denied. ${permission.reason}`);
    if (permission.option === undefined) return { outcome: { outcome: 'cancelled' } };
    const said = permission.kind === 'deny' ? { _meta: { signalbox: plainData({ reason: permission.reason }) } } : {};
    return { outcome: { outcome: 'selected', optionId: permission.option }, ...(said as object) };
  }

  /** Asks about something that the agent does through us. */
  async function mayDo(told: Omit<ToolCallFields, 'rawOutput'>): Promise<Afterwards | undefined> {
    const asked = await book.asked({ ...told, rawOutput: undefined } as ToolCallFields);
    const { call } = asked;
    const permission = await decided(asked, OWN_OPTIONS);
    if (permission === undefined || context.isOver()) return undefined;
    book.decided(call, permission);
    if (permission.kind === 'deny') {
      tellLater(asked, permission);
      return undefined;
    }
    await book.settled();
    return hasSucceeded => {
      book.ended(call, hasSucceeded ? 'succeeded' : 'failed');
      return book.settled();
    };
  }

  return {
    requested,
    /** Whether the agent may write a file: asks, unless an allowed call is under way. Undefined if not; otherwise to be called afterwards. */
    async mayWrite(path: string, content: string): Promise<Afterwards | undefined> {
      if (book.explains(path)) return async () => {};
      return mayDo({
        toolCallId: `fs/write_text_file ${path}`,
        ...{ name: 'fs/write_text_file', kind: 'edit', title: `Write ${path}`, rawInput: { path, content } },
      });
    },
    /** The same for a command in a terminal. `line` is how a person reads it. */
    async mayRun(line: string, rawInput: object): Promise<Afterwards | undefined> {
      if (book.explainsCommand(line)) return async () => {};
      const toolCallId = `terminal/create ${++commands}`;
      return mayDo({ toolCallId, name: 'terminal/create', kind: 'execute', title: line, rawInput });
    },
    /** The session is an earlier one, in which these were not told or made yet. */
    continued(left: Pick<LeftSession, 'words' | 'wanted'>): void {
      words.push(...left.words);
      wanted.push(...left.wanted);
    },
    /** The kind of a question that nobody answered yet. */
    open: (): DecisionKind | undefined => [...open.values()][0],
    /** Takes people's words that the agent has not been given. With `all`, denials that it saw are repeated. */
    takeWords(all: boolean): readonly string[] {
      const taken = [...words.splice(0), ...(all ? unsaid : [])];
      unsaid.length = 0;
      return taken;
    },
  };
}

type Options = RequestPermissionRequest['options'];

/** Says how it went. */
type Afterwards = (hasSucceeded: boolean) => Promise<unknown>;

const OWN_OPTIONS: Options = [
  { optionId: 'allow', name: 'Allow', kind: 'allow_once' },
  { optionId: 'reject', name: 'Reject', kind: 'reject_once' },
];
