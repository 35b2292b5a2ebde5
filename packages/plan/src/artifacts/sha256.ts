import { hash } from 'node:crypto';
import type { Digest, Hasher } from '@signalbox/model';

export const sha256: Hasher = data => `sha256:${hash('sha256', data, 'hex')}` as Digest;
