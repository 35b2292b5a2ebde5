import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Mac } from '../tokens.ts';

export const nodeMac: Mac = {
  sign: (key, data) => createHmac('sha256', key).update(data).digest(),
  equals: (left, right) => left.length === right.length && timingSafeEqual(left, right),
};
