import { readFileSync } from 'node:fs';
import * as z from 'zod';

const canonicalVectors = z.strictObject({
  source: z.string(),
  numbers: z.array(z.strictObject({ ieee754: z.string(), text: z.string() })),
  refusedNumbers: z.array(z.string()),
  texts: z.array(z.strictObject({ name: z.string(), input: z.string(), utf8: z.string() })),
});

const idVectors = z.strictObject({
  source: z.string(),
  namespace: z.string(),
  derived: z.array(z.strictObject({ kind: z.string(), parts: z.array(z.json()), name: z.string(), id: z.string() })),
});

const chainVectors = z.strictObject({
  source: z.string(),
  empty: z.string(),
  steps: z.array(z.strictObject({ event: z.json(), canonical: z.string(), head: z.string() })),
});

/** The frozen vectors of `spec/vectors`. */
export const vectors = {
  canonicalJson: canonicalVectors.parse(load('canonical-json')),
  ids: idVectors.parse(load('ids')),
  chain: chainVectors.parse(load('chain')),
};

function load(name: string): unknown {
  return JSON.parse(readFileSync(new URL(`../../../spec/vectors/${name}.json`, import.meta.url), 'utf8'));
}
