import type { ContentBlock } from '@agentclientprotocol/sdk';
import { err, type Json, type JsonObject, type Result } from '@signalbox/model';
import { type Assignment, type HeardMessages, messageWords } from '@signalbox/runs';
import { type AnswerCheck, answerInText } from '../attempt/answer-check.ts';

/** The first prompt: the author's system text, the task, and the form of the answer. The agent has instructions of its own. */
export function firstPrompt({ system, prompt, schema }: Assignment): readonly ContentBlock[] {
  const parts = [
    ...(system === undefined || system.trim() === '' ? [] : [system]),
    prompt.trim() === '' ? 'Begin.' : prompt,
    ...(schema === undefined ? [] : [answerForm(schema)]),
  ];
  return parts.map(textBlock);
}

/** The fate of the changes of a turn that was cut off, or whose run was forked in the middle of it. */
export type LeftChanges = keyof typeof LEFT;

const LEFT = {
  untouched: 'You began this task before and were interrupted. Nothing had been changed in the directory.',
  undone:
    'You began this task before and were interrupted. Everything that had been changed in the directory was undone: make the changes again that are still needed.',
  kept: 'You began this task before, and continue it now from the middle. What you had changed until then is in the directory: do not do it again.',
} as const;

/** Tells a new session about a turn that was begun before: how far it came, and what is left of it. */
export function retelling(told: string, left: LeftChanges): readonly ContentBlock[] {
  const so = told === '' ? '' : `\nThis is how far you came:\n${told}\n`;
  return [textBlock(`${LEFT[left]} Answers that a person gave are delivered when you ask for the same again.${so}`)];
}

/** Continues a session whose last prompt was cut off. */
export function continuation(words: readonly string[]): readonly ContentBlock[] {
  const go =
    'You were interrupted while a person was asked. Continue where you stopped. If a call was waiting for a permission, make exactly the same call again: the answer will be delivered. Then give the result.';
  return [textBlock([...words, go].join('\n\n'))];
}

export function correction(problem: string): readonly ContentBlock[] {
  return [textBlock(`The answer does not fit. ${problem}\nAnswer again, with nothing but JSON that fits the schema.`)];
}

/** Decisions of people that the agent could not be told when it asked. */
export function toldDecisions(words: readonly string[]): readonly ContentBlock[] {
  return [textBlock([...words, 'Continue with the task, then give the result again.'].join('\n\n'))];
}

/** What people wrote to the agent while it worked. */
export function toldMessages({ messages }: HeardMessages): readonly ContentBlock[] {
  return messages.map(message => textBlock(messageWords(message)));
}

export function textOf(blocks: readonly ContentBlock[]): string {
  return blocks.flatMap(block => (block.type === 'text' ? [block.text] : [])).join('\n\n');
}

/** The answer in a text that may say more: the text itself, otherwise its last block of code or its outermost braces that fit. */
export function answerWithin(text: string, check: AnswerCheck): Result<Json, string> {
  const fenced = [...text.matchAll(/```(?:json)?[^\S\n]*\n(.*?)\n\s*```/gs)].flatMap(match => match[1] ?? []);
  const braces = /[[{].*[\]}]/s.exec(text)?.[0];
  let problem: string | undefined;
  for (const candidate of [text, ...fenced.toReversed(), ...(braces === undefined ? [] : [braces])]) {
    const read = answerInText(candidate);
    const checked = read.ok ? check(read.value) : read;
    if (checked.ok) return checked;
    // A problem of JSON that can be read says more than one of text that cannot.
    if (problem === undefined || read.ok) problem = checked.error;
  }
  return err(problem ?? 'It is empty.');
}

function answerForm(schema: JsonObject): string {
  return `The result is handed on as data. End with a last message that is nothing but JSON that fits this JSON Schema:\n${JSON.stringify(schema)}`;
}

function textBlock(text: string): ContentBlock {
  return { type: 'text', text: text.toWellFormed() };
}
