import type { SecretFilter } from '@signalbox/model';

/** Takes secrets out of plain data: what a plan sees is what is committed (R42). */
export type CleanData = SecretFilter['data'];

export const asGiven: CleanData = value => value;
