import type { SecretFilter } from './secret-filter.ts';

/** Filters text that comes in pieces: what may be the beginning of a secret waits for the piece that says whether it is. */
export interface SecretStream {
  /** What can be said of the text now. */
  push(piece: string): string;
  /** The rest, when nothing more comes. */
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
