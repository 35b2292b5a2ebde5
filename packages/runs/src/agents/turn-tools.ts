import * as z from 'zod';

/** A question that an agent asks a person while it works. */
export const decisionRequest = z.strictObject({
  question: z.string().min(1).max(4_000).describe('One question, with what the person needs to know to answer it.'),
  options: z
    .array(
      z.strictObject({
        id: z.string().min(1).max(100).describe('Returned as your answer if the person chooses this option.'),
        label: z.string().min(1).max(300),
      }),
    )
    .min(2)
    .max(10)
    .refine(options => new Set(options.map(({ id }) => id)).size === options.length, 'every id must be different')
    .optional()
    .describe('The choices. Leave them out for a question that is answered with yes or no.'),
});
export type DecisionRequest = Readonly<z.infer<typeof decisionRequest>>;

export type DecisionReply =
  | { readonly kind: 'answered'; readonly answer: string; readonly rationale: string }
  /** Nobody has answered yet. The agent ends its turn, and the answer begins its next one. */
  | { readonly kind: 'asked' };

/** The tools of one turn, for an agent that we started (R9). */
export interface TurnTools {
  /** Replies within the agent's own tool timeout (R28). */
  requestDecision(request: DecisionRequest): Promise<DecisionReply>;
}

/** Offers an agent's process the tools of its turn over MCP. */
export interface TurnSurface {
  /** Until it is withdrawn, whoever has the token can call the tools; afterwards nobody can. */
  offer(tools: TurnTools): Promise<TurnOffer>;
}

export interface TurnOffer {
  readonly url: string;
  readonly token: string;
  /** Whether a client with the token has asked which tools there are: before that, its model cannot know them. */
  wasListed(): boolean;
  withdraw(): Promise<void>;
}
