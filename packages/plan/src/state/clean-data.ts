import type { SecretFilter } from '@signalbox/model';

/** Removes secrets from plain data: a plan sees exactly what is committed (R42). */
export type CleanData = SecretFilter['data'];

export const asGiven: CleanData = value => value;
