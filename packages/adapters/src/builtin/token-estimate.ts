import { utf8Length } from '@signalbox/model';

/**
 * Estimates the tokens of a text: one per three bytes of UTF-8, rounded up. Tokenizers differ by model; English takes about
 * one per four bytes and Chinese one per three, so this overestimates. Used if a provider reports nothing, and to trim
 * histories.
 */
export function estimateTokens(value: string | object): number {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return Math.ceil(utf8Length(text.toWellFormed()) / 3);
}
