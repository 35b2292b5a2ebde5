import { hash } from 'node:crypto';
import type { Digest, Hasher } from '@signalbox/model';

/** SHA-256 by the platform. */
export const nodeHasher: Hasher = data => `sha256:${hash('sha256', data)}` as Digest;
