import { writeFileSync } from 'node:fs';
import { usageError } from '@signalbox/app';
import { type AllRunsReads, type FoundArtifact, findListedRun, LAST } from '@signalbox/app/all-runs';
import type { ErrorEnvelope, Reader, RunId } from '@signalbox/app/host';
import type { DefineCommand } from '../command.ts';
import { askedDataDirectory, DATA_DIR_OPTION, type DataFlags } from '../data-directory-option.ts';
import { type ExitCode, exitCodes } from '../exit-code.ts';
import { homeRuns } from '../home-runs.ts';
import { shownLines } from '../shown-lines.ts';
import { shown } from '../terminal.ts';
import { withReader } from '../with-reader.ts';

interface ArtifactsFlags extends DataFlags {
  readonly kind?: string;
  readonly key?: string;
  readonly all?: boolean;
  readonly turns?: boolean;
  readonly kept?: boolean;
}

export const defineArtifacts: DefineCommand = (command, { terminal, end }) => {
  command
    .description(
      "Lists a run's artifacts, newest first: the latest version of each key, and the prompt and diff of every finished agent turn.",
    )
    .option('--kind <kind>', 'only this kind: markdown, table, progress, link, image or another')
    .option('--key <key>', 'only versions of this key')
    .option('--all', 'all versions of each key')
    .option('--turns', 'only the prompts and diffs of turns')
    .option('--kept', 'only artifacts that the run stored')
    .option(...DATA_DIR_OPTION)
    .option('--json', 'print one JSON object per line')
    .addHelpText('after', '\nExample:\n  $ signalbox artifacts 019b8d62 --kind table')
    .action(async (given: string | undefined, flags: ArtifactsFlags) => {
      const directory = askedDataDirectory(flags.dataDir);
      const list = async (reader?: Reader): Promise<ExitCode | ErrorEnvelope> => {
        const run = await findListedRun(reader, directory, given ?? LAST);
        if (!run.ok) return run.error;
        const asked = askedOf(flags, run.value.id);
        const runs = homeRuns(directory, reader);
        for (let after: string | undefined, isMore = true; isMore; isMore = after !== undefined) {
          const page = await runs.artifacts({ ...asked, ...(after !== undefined && { after }) });
          if (!page.ok) return page.error;
          for (const artifact of page.value.items) {
            terminal.print(flags.json === true ? JSON.stringify(artifact) : describe(artifact));
          }
          after = page.value.next;
        }
        return exitCodes.done;
      };
      end(await withReader(terminal, flags, list, () => list()));
    });
};

interface ArtifactFlags extends DataFlags {
  readonly output?: string;
}

export const defineArtifact: DefineCommand = (command, { terminal, end }) => {
  command
    .description('Prints an artifact, or writes it to a file. Name it by its id or by artifact://<id>.')
    .option('-o, --output <file>', 'write the content to a new file')
    .option(...DATA_DIR_OPTION)
    .option('--json', 'print its metadata and text as JSON')
    .addHelpText('after', '\nExample:\n  $ signalbox artifact 7a1e2e54-5913-5d6d-9f0a-af6853f30c43 -o chart.png')
    .action(async (given: string, flags: ArtifactFlags) => {
      const directory = askedDataDirectory(flags.dataDir);
      const show = async (reader?: Reader): Promise<ExitCode | ErrorEnvelope> => {
        const found = await homeRuns(directory, reader).artifact(given.replace(/^artifact:\/\//, ''));
        if (!found.ok) return found.error;
        const { artifact } = found.value;
        const content = await found.value.content();
        if (!content.ok) return content.error;
        if (flags.output !== undefined) {
          const refused = written(flags.output, content.value);
          if (refused !== undefined) return refused;
        }
        if (flags.json === true) {
          terminal.print(JSON.stringify({ ...artifact, ...(isText(artifact) && { text: textOf(content.value) }) }));
        } else if (flags.output === undefined) terminal.print(contentOf(artifact, content.value));
        return exitCodes.done;
      };
      end(await withReader(terminal, flags, show, () => show()));
    });
};

type Asked = Parameters<AllRunsReads['artifacts']>[0];
type Artifact = FoundArtifact['artifact'];

function askedOf({ kind, key, all, turns, kept }: ArtifactsFlags, run: RunId): Asked {
  return {
    run,
    versions: all === true ? 'all' : 'last',
    turns: turns === true ? 'only' : kept === true ? 'none' : 'with',
    ...(key !== undefined && { key }),
    // No artifact has an unknown kind.
    ...(kind !== undefined && { kind: kind as NonNullable<Asked['kind']> }),
  };
}

function describe({ id, kind, name, key, version, bytes, node, createdAt }: Artifact): string {
  const of = key === undefined ? '' : `  ${shown(key)} v${version ?? '?'}`;
  return `${id}  ${kind.padEnd(8)}  ${shown(name)}${of}  ${bytes} bytes  ${shown(node ?? '')}  ${createdAt}`;
}

function contentOf(artifact: Artifact, content: Uint8Array): string {
  if (isText(artifact)) return shownLines(textOf(content)).join('\n');
  const what = artifact.alt === undefined ? '' : `: ${shown(artifact.alt)}`;
  return `${artifact.mimeType}, ${artifact.bytes} bytes${what}. Write it to a file with -o.`;
}

function isText({ mimeType }: Artifact): boolean {
  return mimeType.startsWith('text/') || mimeType === 'application/json';
}

function textOf(content: Uint8Array): string {
  return Buffer.from(content).toString('utf8');
}

/** Never overwrites an existing file. */
function written(file: string, content: Uint8Array): ErrorEnvelope | undefined {
  try {
    writeFileSync(file, content, { flag: 'wx' });
    return undefined;
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    return usageError(
      `${shown(file)} cannot be written (${code ?? String(cause)}).`,
      'Name a file that does not exist yet.',
    );
  }
}
