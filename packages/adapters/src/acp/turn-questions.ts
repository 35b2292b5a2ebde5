import { canonicalJson, type Json, type Resolution, type SecretMac } from '@signalbox/model';
import type { AgentQuestion, AgentSession, DecisionReply, DecisionRequest, TurnTools } from '@signalbox/runs';
import { plainData } from '../attempt/plain-data.ts';
import type { Redactor } from '../attempt/redaction.ts';
import type { ToldCall } from './asked-call.ts';
import type { CallNames } from './call-names.ts';
import type { LeftSession } from './left-session.ts';
import type { AgentRow } from './register.ts';
import { shownAs } from './shown-hash.ts';

/** The tool by which an agent asks a person (R9). */
export const REQUEST_DECISION = 'request_decision';
/** How long the tool waits for an answer: less than any agent waits for a tool. */
const TOOL_MS = 30_000;

export interface QuestionsContext {
  readonly names: CallNames;
  readonly mac: SecretMac;
  readonly row: Pick<AgentRow, 'id' | 'title'>;
  readonly session: Pick<AgentSession, 'answered'>;
  readonly redact: Redactor;
  readonly parkMs: number;
  keep(entry: unknown): void;
  /** The question could not be asked. */
  lost(cause: unknown): void;
}

/**
 * Questions that an agent asks a person with `request_decision`.
 *
 * 1. A question is named by what is asked and how often, so that the same answer is found when it is asked again (R24).
 * 2. The tool never waits longer than the agent does (R28). A question that is open when the agent ends its turn holds up the turn, and its
 *    answer is the next prompt.
 */
export type TurnQuestions = ReturnType<typeof createTurnQuestions>;

export function createTurnQuestions(context: QuestionsContext) {
  const { row, session, redact, parkMs, mac, keep, lost } = context;
  const open = new Map<string, { readonly question: AgentQuestion; readonly request: DecisionRequest }>();

  const nameOf = (request: DecisionRequest) =>
    context.names.next(`ask/${mac(`question ${canonicalJson(plainData(request))}`)}`);

  function questionOf(call: string, { question: prompt, options }: DecisionRequest): AgentQuestion {
    const full = { prompt, ...(options && { options }), context: { agent: { id: row.id, title: row.title } } };
    const proposal = plainData(full);
    const kind = options === undefined ? 'confirmation' : 'choice';
    return { call, kind, proposal: redact.data(proposal) as Json, ...shownAs(proposal, mac) };
  }

  const tools: TurnTools = {
    async requestDecision(request) {
      const call = nameOf(request);
      const question = questionOf(call, request);
      try {
        const answer = await session.answered(question, Math.min(TOOL_MS, parkMs));
        keep({ v: 1, kind: 'question', call, isAnswered: answer !== undefined, request });
        if (answer !== undefined) return { kind: 'answered', ...replyTo(request, answer) };
        open.set(question.call, { question, request });
        return { kind: 'asked' };
      } catch (thrown) {
        lost(thrown);
        throw thrown;
      }
    },
  };

  return {
    tools,
    /** The session is an earlier one, in which the agent waits for answers to these. */
    continued(questions: LeftSession['questions']): void {
      for (const { call, request } of questions) open.set(call, { question: questionOf(call, request), request });
    },
    /** The kind of a question that nobody has answered yet. */
    open: () => [...open.values()][0]?.question.kind,
    /** Waits for the answers to open questions, as words for the agent. Undefined if one has none in time. */
    async answers(): Promise<readonly string[] | undefined> {
      const words: string[] = [];
      for (const [call, { question, request }] of open) {
        const given = await session.answered(question, parkMs);
        if (given === undefined) return undefined;
        const { answer, rationale } = replyTo(request, given);
        words.push(`You asked: ${request.question}\nThe person answered: ${answer}\n${rationale}`.trim());
        open.delete(call);
      }
      return words;
    },
  };
}

function replyTo(
  { options }: DecisionRequest,
  { resolutionType, chosenOptionId, rationale, value }: Resolution,
): Omit<Extract<DecisionReply, { kind: 'answered' }>, 'kind'> {
  const chosen = options?.find(({ id }) => id === chosenOptionId);
  if (chosen !== undefined) return { answer: `${chosen.id} (${chosen.label})`, rationale };
  if (value !== undefined) return { answer: JSON.stringify(value), rationale };
  return { answer: resolutionType === 'approve' ? 'yes' : 'no', rationale };
}

/** Whether a call only asks a person: nobody needs to be asked whether they may be asked. */
export function isRequestForDecision({ kind, name, title }: ToldCall): boolean {
  const own = /(^|[^a-z])request[_ ]decision\b/;
  return (kind ?? 'other') === 'other' && (name == null ? own.test(title ?? '') : own.test(name));
}
