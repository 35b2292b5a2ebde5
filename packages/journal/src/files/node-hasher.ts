import { hash } from 'node:crypto';
import type { Digest, Hasher } from '@signalbox/model';

/** The platform's SHA-256. */
export const nodeHasher: Hasher = data => `sha256:${hash('sha256', data)}` as Digest;
