import { cutAtWord, type Json, type SecretMac } from '@signalbox/model';
import type { AgentSession, Assignment, TaskError } from '@signalbox/runs';
import { plainData } from '../attempt/plain-data.ts';
import type { Redactor } from '../attempt/redaction.ts';
import { taskFailure } from '../attempt/task-failure.ts';
import { exactTool, identityOf, inputOf, kindOf, merged, pathsOf, type ToldCall, toolOf } from './asked-call.ts';
import type { CallNames } from './call-names.ts';
import type { CallStatus, FollowedCalls } from './followed-calls.ts';
import { changes, mayChange, needsPerson, type Permission } from './permission.ts';
import type { AgentRow } from './register.ts';
import type { SessionUpdate, ToolCallFields } from './session-update.ts';
import { contentText, resultOf, shownDiffs, shownInput } from './shown-call.ts';

export interface BookContext {
  readonly assignment: Pick<Assignment, 'permissions'>;
  readonly row: AgentRow;
  readonly names: CallNames;
  readonly mac: SecretMac;
  readonly session: Pick<AgentSession, 'keep' | 'stream'>;
  readonly redact: Redactor;
  /** A call that may have changed files has ended. */
  changed?(): void;
  /** On a layer: tells apart what the calls change. */
  readonly followed?: FollowedCalls | undefined;
  now(): number;
  /** Called once, when the agent has begun to work on its prompt in this session, and everything before that is kept. */
  took(session: string): void;
  /** A call ran without the question that it needed. */
  violated(error: TaskError): void;
  /** Nothing more can be kept. */
  lost(cause: unknown): void;
}

/** A call that the agent told about, and what became of it. */
export interface BookedCall {
  told: ToldCall;
  /** Its exact tool as it was asked about: an agent may change a call's title meanwhile. */
  exact?: string;
  /** Its name: what a decision about it refers to. */
  name?: string;
  isStarted: boolean;
  isEnded: boolean;
  /** Undefined while nobody decided. */
  permission?: Permission;
  startedAt: number;
}

/** A call that a question is about. */
export interface AskedCall {
  readonly call: BookedCall;
  /** The call as the agent described it when it asked: a later update must not change the question. */
  readonly told: ToldCall;
  /** The name of the question. */
  readonly name: string;
  /** What the agent said before. */
  readonly why: string;
}

const MAX_TEXT = 4_000_000;
const MAX_NOTES = 50;
const MAX_PENDING = 64;

/**
 * The record of one attempt, made from what the agent tells: the stream and the entries of the transcript, as the built-in agent has them.
 *
 * 1. Entries are kept one after the other, in the order in which things were told.
 * 2. A call starts before it ends, and ends once. One that needs a question starts when the question is answered.
 */
export type TurnBook = ReturnType<typeof createTurnBook>;

export function createTurnBook(context: BookContext) {
  const { assignment, row, session, redact, followed, now, violated, lost } = context;
  const calls = new Map<string, BookedCall>();
  /** Exact tools that a person allowed for the rest of the session. */
  const always = new Set<string>();
  const notes = new Set<string>();
  let vendorSession = '';
  let text = '';
  let reasoning = '';
  let lastText = '';
  let plan: Json | undefined;
  let wasDenied = false;
  /** Calls that a person, the plan or its node allowed to change something. */
  let changesAllowed = 0;
  let toolCalls = 0;
  let pending = 0;
  let isTaken = false;
  let last: Promise<unknown> = Promise.resolve();

  function then(work: () => Promise<unknown>): void {
    pending++;
    last = last
      .then(work)
      .catch(lost)
      .finally(() => pending--);
  }

  function keep(...entries: readonly unknown[]): void {
    const plain = entries.map(entry => redact.data(plainData(entry)));
    then(() => session.keep(plain));
  }

  /** Keeps an entry about something that an agent does only when it has its prompt. */
  function keepOfPrompt(...entries: readonly unknown[]): void {
    taken();
    keep(...entries);
  }

  function taken(): void {
    if (isTaken) return;
    isTaken = true;
    then(async () => context.took(vendorSession));
  }

  function follow(call: BookedCall, running: boolean): void {
    const begun = followed?.begin(call, running);
    if (begun !== undefined) then(() => begun);
  }

  function stream(kind: 'token' | 'thinking' | 'tool_start' | 'tool_end', payload: unknown): void {
    session.stream(kind, redact.data(plainData(payload)));
  }

  function note(words: string): void {
    if (notes.size >= MAX_NOTES || notes.has(words)) return;
    notes.add(words);
    keep({ v: 1, kind: 'note', text: cutAtWord(words, 1_000) });
  }

  /** Keeps what was said so far, with the call that follows it. */
  function flush(more: { readonly call?: BookedCall; readonly usage?: Json }): void {
    if (plan !== undefined) keep({ v: 1, kind: 'plan', entries: plan });
    plan = undefined;
    const content = [
      ...(reasoning === '' ? [] : [{ type: 'reasoning', text: reasoning }]),
      ...(text === '' ? [] : [{ type: 'text', text }]),
      ...(more.call === undefined
        ? []
        : [
            {
              type: 'tool-call',
              toolCallId: more.call.name,
              toolName: toolOf(more.call.told),
              input: shownInput(more.call.told),
            },
          ]),
    ];
    if (text.trim() !== '') lastText = text;
    text = '';
    reasoning = '';
    if (content.length > 0 || more.usage !== undefined)
      keep({ v: 1, kind: 'assistant', content, ...(more.usage !== undefined && { usage: more.usage }) });
  }

  function nameOf(told: ToldCall, how: 'asked' | 'unasked'): string {
    const identity = identityOf(told, { session: vendorSession, volatile: row.volatile, mac: context.mac });
    return context.names.next(identity, how === 'asked' ? '' : 'u');
  }

  function allowAlways(tool: string): void {
    always.add(tool);
    keep({ v: 1, kind: 'always', tool });
  }

  function start(call: BookedCall): void {
    if (call.isStarted) return;
    call.isStarted = true;
    call.startedAt = now();
    toolCalls++;
    if (call.name === undefined) {
      call.name = nameOf(call.told, 'unasked');
      flush({ call });
    }
    const { told, name } = call;
    const kind = kindOf(told);
    const tool = toolOf(told);
    const diffs = shownDiffs(told);
    stream('tool_start', {
      ...{ call: name, tool, input: shownInput(told), kind },
      ...(told.title != null && { title: told.title }),
      ...(told.locations != null && told.locations.length > 0 && { locations: told.locations }),
      ...(diffs.length > 0 && { diffs }),
    });
    if (changes(kind) && call.permission?.kind !== 'deny')
      keep({
        ...{ v: 1, kind: 'tool_begun', call: name, tool, input: shownInput(told), external: false },
        approval: call.permission?.approval ?? 'not-needed',
      });
  }

  function end(call: BookedCall, status: CallStatus, words?: string): void {
    if (call.isEnded) return;
    start(call);
    call.isEnded = true;
    if (status !== 'denied' && mayChange(call.told)) context.changed?.();
    const alone = followed?.end(call, status, redact.text(contentText(call.told)));
    const { told, name } = call;
    const ms = Math.max(0, Math.round(now() - call.startedAt));
    const tool = toolOf(told);
    const approval = call.permission?.approval ?? 'not-needed';
    const output =
      status === 'succeeded'
        ? { type: 'json', value: resultOf(told) }
        : { type: 'error-text', value: words ?? (contentText(told) || `The agent reports that ${tool} ${status}.`) };
    const message = output.type === 'error-text' ? { message: output.value } : {};
    const entry = { v: 1, kind: 'tool_ended', call: name, tool, status, output, ms, approval };
    const streamed = { call: name, tool, outcome: status, ms, approval, ...message };
    if (alone === undefined) {
      keep(entry);
      stream('tool_end', streamed);
      return;
    }
    then(async () => {
      const notAlone = await alone;
      const more = notAlone === undefined ? {} : { notAlone };
      await session.keep([redact.data(plainData({ ...entry, ...more }))]);
      stream('tool_end', { ...streamed, ...more });
      for (const words of followed?.notes() ?? []) note(words);
    });
  }

  function told(fields: ToolCallFields, isNew: boolean): BookedCall {
    const before = calls.get(fields.toolCallId);
    if (before !== undefined && !(isNew && before.isEnded)) {
      before.told = merged(before.told, fields);
      return before;
    }
    const call: BookedCall = { told: merged(undefined, fields), isStarted: false, isEnded: false, startedAt: now() };
    calls.set(fields.toolCallId, call);
    return call;
  }

  function progressed(call: BookedCall): void {
    const { status } = call.told;
    const kind = kindOf(call.told);
    if (call.isEnded) {
      if (status === 'completed' && call.permission?.kind === 'deny' && changes(kind))
        violated(violation(call, 'although it was denied'));
      return;
    }
    if (status === 'in_progress' && !needsPerson(kind, 'gated')) start(call);
    if (status === 'in_progress') follow(call, true);
    if (status !== 'completed' && status !== 'failed') return;
    if (status === 'completed' && isUnasked(call)) violated(violation(call, 'without asking'));
    if (changes(kind) && call.permission === undefined && isFree(call)) changesAllowed++;
    end(call, status === 'completed' ? 'succeeded' : 'failed');
  }

  function isUnasked(call: BookedCall): boolean {
    const kind = kindOf(call.told);
    return changes(kind) && call.permission?.kind !== 'allow' && !isFree(call) && !row.unasked.includes(kind);
  }

  /** Whether a call may change something without a question. What an agent runs unasked because it is harmless may not. */
  function isFree({ told: fields, exact }: BookedCall): boolean {
    return always.has(exact ?? exactTool(fields)) || !needsPerson(kindOf(fields), assignment.permissions);
  }

  function violation({ told: fields }: BookedCall, how: string): TaskError {
    const shown = fields.title ?? toolOf(fields);
    return taskFailure(
      'agent-violation',
      `${row.title} ran a tool of kind ${kindOf(fields)} ${how}: ${cutAtWord(shown, 500)}. Its turn was ended, and nothing that it changed was applied. Check that its asking mode holds with \`signalbox agents doctor\`.`,
    );
  }

  return {
    opened(id: string): void {
      vendorSession = id;
    },
    /** The session is an earlier one, in which a person allowed these tools for the rest of it. */
    continued(tools: readonly string[]): void {
      for (const tool of tools) always.add(tool);
    },
    prompted(entry: Json): void {
      wasDenied = false;
      lastText = '';
      keep(entry);
    },
    note,
    keep,
    keepOfPrompt,
    /** Resolves when there is room for more. */
    room: (): Promise<void> | undefined => (pending < MAX_PENDING ? undefined : last.then(() => undefined)),
    updated(update: SessionUpdate): void {
      switch (update.sessionUpdate) {
        case 'agent_message_chunk':
        case 'agent_thought_chunk': {
          taken();
          const { text: said } = update.content;
          if (said === undefined) {
            note(`The agent sent content of type ${update.content.type}, which is not shown.`);
            return;
          }
          const isText = update.sessionUpdate === 'agent_message_chunk';
          stream(isText ? 'token' : 'thinking', said);
          if (text.length + reasoning.length + said.length > MAX_TEXT) {
            note(`The agent said more than ${MAX_TEXT} characters at once; the rest is not kept.`);
          } else if (isText) text += said;
          else reasoning += said;
          return;
        }
        case 'tool_call':
        case 'tool_call_update':
          taken();
          progressed(told(update, update.sessionUpdate === 'tool_call'));
          return;
        case 'plan':
          taken();
          plan = plainData(update.entries);
          return;
        default:
          return;
      }
    },
    /** A call that the agent asks about. It is kept before anybody is asked. */
    async asked(fields: ToolCallFields): Promise<AskedCall> {
      taken();
      const call = told(fields, true);
      const asked = call.told;
      const why = text.trim() === '' ? lastText : text;
      // Asked again, it is another question.
      const name = nameOf(asked, 'asked');
      if (!call.isStarted) {
        call.name = name;
        call.exact = exactTool(asked);
        flush({ call });
      }
      keep({ v: 1, kind: 'tool_proposed', call: name, tool: toolOf(asked), input: shownInput(asked) });
      await last;
      return { call, told: asked, name, why };
    },
    decided(call: BookedCall, permission: Permission): void {
      call.permission = permission;
      if (permission.kind === 'allow') {
        if (permission.always) allowAlways(call.exact ?? exactTool(call.told));
        if (mayChange(call.told)) changesAllowed++;
        follow(call, false);
        start(call);
      } else {
        wasDenied = true;
        end(call, 'denied', permission.reason);
      }
    },
    /** Ends a call of ours. */
    ended: end,
    isAlways: (call: BookedCall) => always.has(call.exact ?? exactTool(call.told)),
    /** Whether an allowed call that is under way explains a write to this path. A call that names paths explains no others. */
    explains: (path: string) =>
      [...calls.values()].some(({ told: fields, permission, isEnded }) => {
        if (permission?.kind !== 'allow' || isEnded || !mayChange(fields)) return false;
        const paths = pathsOf(fields);
        return kindOf(fields) === 'execute' || paths.length === 0 || paths.includes(path);
      }),
    /** Whether an allowed call that is under way explains this command: the call must show it. */
    explainsCommand: (line: string) =>
      [...calls.values()].some(({ told: fields, permission, isEnded }) => {
        if (permission?.kind !== 'allow' || isEnded || kindOf(fields) !== 'execute') return false;
        return [(fields.title ?? '').replaceAll('`', ''), ...linesIn(inputOf(fields))].some(
          shown => shown.trim() === line,
        );
      }),
    /** Whether the agent was allowed to change anything so far. */
    mayHaveChanged: () => changesAllowed > 0,
    wasDenied: () => wasDenied,
    toolCalls: () => toolCalls,
    /** The prompt was answered: what was said last is its result. */
    answered(usage: Json): string {
      for (const call of calls.values())
        if (call.isStarted) end(call, 'unknown', 'The agent ended its turn without reporting how this call ended.');
      if (followed !== undefined) then(followed.stop);
      flush({ usage });
      calls.clear();
      return lastText;
    },
    /** The attempt is over, however it ended. */
    closed(): void {
      flush({});
    },
    /** Everything so far is durable, and calls that may begin are told apart. */
    async settled(): Promise<void> {
      for (let seen: unknown; seen !== last; ) {
        seen = last;
        await last;
      }
    },
  };
}

/** The texts in a value. */
function textsIn(value: Json): readonly string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(part => textsIn(part as Json)) : [];
}

/** Command lines that arguments may show: each text, and all of them together, because a program and its arguments may be apart. */
function linesIn(input: Json): readonly string[] {
  const texts = textsIn(input);
  return [...texts, texts.join(' ')];
}
