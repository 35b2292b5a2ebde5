import type { SecretFilter } from './secret-filter.ts';

/** Filters text in pieces: a possible beginning of a secret waits for the piece that decides. */
export interface SecretStream {
  /** The text that can be emitted now. */
  push(piece: string): string;
  /** The rest, at the end of the text. */
  end(): string;
}

export function createSecretStream(filter: SecretFilter): SecretStream {
  let held = '';
  return {
    push(piece) {
      const text = held + piece;
      const settled = filter.settled(text);
      held = text.slice(settled);
      return filter.text(text.slice(0, settled));
    },
    end() {
      const rest = filter.text(held);
      held = '';
      return rest;
    },
  };
}
