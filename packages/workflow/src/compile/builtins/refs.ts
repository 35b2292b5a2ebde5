/** A built-in text that prompts can refer to. It is embedded when a workflow is compiled, and pinned with it. */
export interface RefSnippet {
  readonly refId: string;
  readonly purpose: string;
  readonly text: string;
}

/** Sorted by `refId`. */
export const refSnippets: readonly RefSnippet[] = [
  {
    refId: 'wr.refs.adversarial_challenge_rules',
    purpose: 'How to attack a conclusion before it is relied on',
    text: [
      'Challenge the conclusion as someone who wants it to be wrong:',
      'name the claim that everything else rests on, and look for the one observation that would break it;',
      'offer at least one other explanation that fits the same evidence;',
      'check a case at each boundary (empty, one, many, concurrent, failing);',
      'and say plainly which attacks failed, which succeeded, and which you could not carry out.',
      'A challenge that cites no evidence does not count, and neither does a defence that cites none.',
    ].join(' '),
  },
  {
    refId: 'wr.refs.evidence_first',
    purpose: 'What counts as support for a statement',
    text: [
      'Support every statement that matters with something that another person can look at:',
      'a file and line, a command and its output, a test that fails without the change, a quoted source.',
      'Mark what you assume as an assumption. If you did not look, say that you did not look.',
    ].join(' '),
  },
  {
    refId: 'wr.refs.notes_first_durability',
    purpose: 'Why notes are the memory of a session',
    text: [
      'Your notes for this step are what survives: the conversation may be rewound, shortened or taken over by somebody else.',
      'Write what you did and decided, what you produced (paths, names, numbers), and what is open or risky.',
      'Notes cover this step only; earlier steps have their own.',
      'A file you wrote on the side is a help to read, never the only place where a fact is kept.',
    ].join(' '),
  },
  {
    refId: 'wr.refs.parallelize_cognition_serialize_synthesis',
    purpose: 'How to split thinking and join it again',
    text: [
      'Let independent questions be thought about independently and at the same time, each with the same facts and a view of its own.',
      'Bring the answers together in one place and one mind: you.',
      'A delegate gives an opinion with evidence; it does not decide and does not edit what others own.',
    ].join(' '),
  },
  {
    refId: 'wr.refs.synthesis_under_disagreement',
    purpose: 'What to do when opinions differ',
    text: [
      'Where the opinions differ, do not average them and do not count votes.',
      'State each position in its strongest form, find the fact on which they part, and check that fact yourself.',
      'Then decide, say which evidence decided it, and keep the position you did not take with the reason.',
      'If the fact cannot be checked, say so and choose what is easier to undo.',
    ].join(' '),
  },
];

const byId = new Map(refSnippets.map(snippet => [snippet.refId, snippet]));

export function refSnippet(refId: string): RefSnippet | undefined {
  return byId.get(refId);
}
