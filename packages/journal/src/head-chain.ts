import { chainHead, type Digest, EMPTY_HEAD, type Hasher } from '@signalbox/model';

/** The heads of a growing log, hashed on demand: most readers never need them. */
export interface HeadChain {
  extend(canonicalEvent: string): void;
  /** The head after the first `length` events. */
  headAt(length: number): Digest;
}

export function headChain(hasher: Hasher): HeadChain {
  const heads = [EMPTY_HEAD];
  let head = EMPTY_HEAD;
  let waiting: string[] = [];
  return {
    extend(canonicalEvent) {
      waiting.push(canonicalEvent);
    },
    headAt(length) {
      if (length >= heads.length) {
        for (const event of waiting) {
          head = chainHead(hasher, head, event);
          heads.push(head);
        }
        waiting = [];
      }
      return heads[length] ?? head;
    },
  };
}
