import { type Json, utf8Length } from '@signalbox/model';

/**
 * About how many tokens a text takes: one for every three bytes of UTF-8, rounded up. Tokenizers differ by model; English
 * takes about one for four bytes and Chinese one for three, so this is rather too much than too little. It counts
 * where a provider reports nothing, and for the trimming of histories.
 */
export function estimateTokens(value: Json): number {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return Math.ceil(utf8Length(text.toWellFormed()) / 3);
}
