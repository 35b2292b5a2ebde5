import { cutAtWord, type Json } from '@signalbox/model';
import { plainData } from '../attempt/plain-data.ts';
import { diffsOf, inputOf, type ToldCall } from './asked-call.ts';

const MAX_SHOWN = 20_000;
const MAX_INPUT = 1_000_000;

/** The arguments of a call, unless they are too long to be kept. */
export function shownInput(told: ToldCall): Json {
  const input = inputOf(told);
  const bytes = size(input);
  return bytes <= MAX_INPUT ? input : { omitted: `${bytes} characters of arguments` };
}

/** The differences that a call would make, unless they are too long. */
export function shownDiffs(told: ToldCall): readonly Json[] {
  const diffs = diffsOf(told);
  return size(diffs) <= MAX_INPUT ? diffs : [];
}

export function resultOf(told: ToldCall): Json {
  const { rawOutput } = told;
  const said = contentText(told);
  const diffs = shownDiffs(told);
  return plainData({
    ...(said !== '' && { text: said }),
    ...(diffs.length > 0 && { diffs }),
    ...(said === '' && rawOutput != null && size(rawOutput) <= MAX_SHOWN && { output: rawOutput }),
  });
}

/** The text of a call. */
export function contentText({ content }: ToldCall): string {
  const texts = (content ?? []).flatMap(part => {
    const inner = part.content as { readonly text?: unknown } | undefined;
    return part.type === 'content' && typeof inner?.text === 'string' ? [inner.text] : [];
  });
  return cutAtWord(texts.join('\n'), MAX_SHOWN);
}

function size(value: unknown): number {
  return JSON.stringify(value)?.length ?? 0;
}
