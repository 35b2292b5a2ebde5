/** Guided sessions in a data directory: the use-cases of the package `guided`, with the parts that they share with runs. */
import * as guided from '@signalbox/guided';
import type { SessionId } from '@signalbox/model';
import { openBlobFiles } from '@signalbox/store';
import { contractEventOfGuided } from '../contract-view/projections/contract-event.ts';
import { openSecrets } from '../secrets/open-secrets.ts';
import { verifyDirectory } from '../verify-directory.ts';
import { guidedPreferences } from './guided-config.ts';

export const guidedPorts: guided.GuidedPorts = {
  openBlobs: openBlobFiles,
  openSecrets,
  journalHealth(directory) {
    const report = verifyDirectory(directory);
    return report.ok ? report.value.health : 'corrupt_head';
  },
  contractEvent: contractEventOfGuided,
};

type InHome<Options> = Omit<Options, 'ports'>;
type SessionsOptions = InHome<guided.SessionStoresOptions>;
export type CollectOptions = InHome<guided.CollectOptions>;
export type DetailOptions = InHome<guided.DetailOptions>;
export type ExportOptions = InHome<guided.ExportOptions>;
export type ImportOptions = InHome<guided.ImportOptions>;
/** Preferences are the configured ones unless given. */
export type GuidedToolsOptions = Omit<guided.GuidedToolsOptions, 'ports' | 'preferences'> &
  Partial<Pick<guided.GuidedToolsOptions, 'preferences'>>;

const inHome = <Options>(options: Options) => ({ ...options, ports: guidedPorts });

export function openGuidedTools(options: GuidedToolsOptions): guided.GuidedTools {
  const preferences = options.preferences ?? guidedPreferences(options.dataDirectory);
  return guided.openGuidedTools({ ...inHome(options), preferences });
}

export function openGuidedSessions(options: InHome<guided.GuidedSessionsOptions>): guided.GuidedSessions {
  return guided.openGuidedSessions(inHome(options));
}

export function openGuidedDesk(options: InHome<guided.GuidedDeskOptions>): guided.GuidedDesk {
  return guided.openGuidedDesk(inHome(options));
}

export function listSessions(options: SessionsOptions): ReturnType<typeof guided.listSessions> {
  return guided.listSessions(inHome(options));
}

export function findSession(options: SessionsOptions, given: string): ReturnType<typeof guided.findSession> {
  return guided.findSession(inHome(options), given);
}

export function showSession(options: DetailOptions, session: SessionId): ReturnType<typeof guided.showSession> {
  return guided.showSession(inHome(options), session);
}

export function keepSession(
  options: SessionsOptions,
  session: SessionId,
  isKept: boolean,
): ReturnType<typeof guided.keepSession> {
  return guided.keepSession(inHome(options), session, isKept);
}

export function exportSession(options: ExportOptions, session: SessionId): ReturnType<typeof guided.exportSession> {
  return guided.exportSession(inHome(options), session);
}

export function importSession(options: ImportOptions, text: string): ReturnType<typeof guided.importSession> {
  return guided.importSession(inHome(options), text);
}

export function collectSessions(options: CollectOptions): ReturnType<typeof guided.collectSessions> {
  return guided.collectSessions(inHome(options));
}
