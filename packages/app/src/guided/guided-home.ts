/** Guided sessions in a data directory: the use-cases of the package `guided`, with the parts that they share with runs. */
import * as guided from '@signalbox/guided';
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
/** Preferences are the configured ones unless given. */
export type GuidedToolsOptions = Omit<guided.GuidedToolsOptions, 'ports' | 'preferences'> &
  Partial<Pick<guided.GuidedToolsOptions, 'preferences'>>;

export function openGuidedTools(options: GuidedToolsOptions): guided.GuidedTools {
  const preferences = options.preferences ?? guidedPreferences(options.dataDirectory);
  return guided.openGuidedTools({ ...options, ports: guidedPorts, preferences });
}

/** A use-case of `guided` with the ports of a data directory. */
const atHome =
  <Options, Rest extends readonly unknown[], Answer>(use: (options: Options, ...rest: Rest) => Answer) =>
  (options: InHome<Options>, ...rest: Rest): Answer =>
    // With the ports back, the options are whole.
    use({ ...options, ports: guidedPorts } as unknown as Options, ...rest);

export const openGuidedSessions = atHome(guided.openGuidedSessions);
export const openGuidedDesk = atHome(guided.openGuidedDesk);
export const listSessions = atHome(guided.listSessions);
export const findSession = atHome(guided.findSession);
export const showSession = atHome(guided.showSession);
export const keepSession = atHome(guided.keepSession);
export const exportSession = atHome(guided.exportSession);
export const importSession = atHome(guided.importSession);
export const collectSessions = atHome(guided.collectSessions);
