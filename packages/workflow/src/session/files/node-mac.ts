import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto';
import type { Mac } from '../tokens.ts';

export const nodeMac: Mac = {
  // A key object, because telling that bytes are none takes the platform longer than the signature.
  sign: (key, data) => createHmac('sha256', createSecretKey(key)).update(data).digest(),
  equals: (left, right) => left.length === right.length && timingSafeEqual(left, right),
};
