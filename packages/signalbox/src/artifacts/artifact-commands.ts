import { writeFileSync } from 'node:fs';
import { usageError } from '@signalbox/app';
import {
  type ArtifactRecord,
  type ErrorEnvelope,
  findRun,
  openTurns,
  type ReadArtifact,
  type Reader,
  type Result,
  type RunId,
  readArtifact,
  type Turns,
} from '@signalbox/app/runs';
import type { DefineCommand } from '../command.ts';
import { askedDataDirectory, DATA_DIR_OPTION, type DataFlags } from '../data-directory-option.ts';
import { exitCodes } from '../exit-code.ts';
import { shownLines } from '../shown-lines.ts';
import { shown } from '../terminal.ts';
import { withReader } from '../with-reader.ts';

interface ArtifactsFlags extends DataFlags {
  readonly kind?: string;
  readonly key?: string;
  readonly all?: boolean;
  readonly turns?: boolean;
}

export const defineArtifacts: DefineCommand = (command, { terminal, end }) => {
  command
    .description('Lists what a run kept for people to see, newest first; of each key the last version.')
    .option('--kind <kind>', 'only markdown, table, progress, link, image or another kind')
    .option('--key <key>', 'only the versions of a key')
    .option('--all', 'all versions of keys')
    .option('--turns', 'also the prompt and the diff of every turn of an agent that ended')
    .option(...DATA_DIR_OPTION)
    .option('--json', 'print each as a line of JSON')
    .addHelpText('after', '\nExample:\n  $ signalbox artifacts 019b8d62 --kind table')
    .action(async (given: string, flags: ArtifactsFlags) => {
      end(
        await withReader(terminal, flags, async (reader): Promise<0 | ErrorEnvelope> => {
          const run = await findRun(reader, given);
          if (!run.ok) return run.error;
          const kept = await listed(reader, run.value.id, flags);
          const turns = flags.turns === true ? await turnsListed(turnsOf(reader, flags), run.value.id, flags) : [];
          if ('code' in turns) return turns;
          const newest = [...turns, ...kept].sort((a, b) =>
            a.createdAt > b.createdAt ? -1 : a.createdAt < b.createdAt ? 1 : 0,
          );
          for (const artifact of turns.length === 0 ? kept : newest) {
            terminal.print(flags.json === true ? JSON.stringify(artifact) : describe(artifact));
          }
          return exitCodes.done;
        }),
      );
    });
};

interface ArtifactFlags extends DataFlags {
  readonly output?: string;
}

export const defineArtifact: DefineCommand = (command, { terminal, end }) => {
  command
    .description(
      'Prints what an artifact holds, or writes it into a file. It is named by its id or by artifact://<id>.',
    )
    .option('-o, --output <file>', 'write the content into a new file')
    .option(...DATA_DIR_OPTION)
    .option('--json', 'print what is known of it, with its text, as JSON')
    .addHelpText('after', '\nExample:\n  $ signalbox artifact 7a1e2e54-5913-5d6d-9f0a-af6853f30c43 -o chart.png')
    .action(async (given: string, flags: ArtifactFlags) => {
      end(
        await withReader(terminal, flags, async (reader): Promise<0 | ErrorEnvelope> => {
          const found = await artifactOrTurn(reader, turnsOf(reader, flags), given);
          if (!found.ok) return found.error;
          const { run, artifact, content } = found.value;
          if (flags.output !== undefined) {
            const refused = written(flags.output, content);
            if (refused !== undefined) return refused;
          }
          if (flags.json === true) {
            const { content: _, ...known } = artifact;
            terminal.print(JSON.stringify({ run, ...known, ...(isText(artifact) ? { text: textOf(content) } : {}) }));
          } else if (flags.output === undefined) terminal.print(contentOf(found.value));
          return exitCodes.done;
        }),
      );
    });
};

async function listed(
  reader: Reader,
  run: RunId,
  { kind, key, all }: ArtifactsFlags,
): Promise<readonly ArtifactRecord[]> {
  const found: ArtifactRecord[] = [];
  for (let page: Parameters<Reader['artifactList']>[0] = {}; ; ) {
    const versions = all === true ? 'all' : 'last';
    const { items, next } = await reader.artifactList({
      run,
      versions,
      ...(key === undefined ? {} : { key }),
      ...page,
    });
    found.push(
      ...items.map(({ artifact }) => artifact).filter(artifact => kind === undefined || artifact.kind === kind),
    );
    if (next === undefined) return found;
    page = { after: next };
  }
}

function turnsOf(reader: Reader, { dataDir }: DataFlags): Turns {
  return openTurns(askedDataDirectory(dataDir), reader, process.env);
}

/** What follows from the turns of a run: nothing of it has a key. */
async function turnsListed(
  turns: Turns,
  run: RunId,
  { kind, key }: ArtifactsFlags,
): Promise<readonly ArtifactRecord[] | ErrorEnvelope> {
  const found: ArtifactRecord[] = [];
  for (const turn of key === undefined ? await turns.list(run) : []) {
    if (kind !== undefined && turn.kind !== kind) continue;
    const read = await turns.read(turn);
    if (!read.ok) return read.error;
    const { run: _, content: __, ...artifact } = read.value;
    found.push(artifact);
  }
  return found;
}

async function artifactOrTurn(
  reader: Reader,
  turns: Turns,
  given: string,
): Promise<Result<ReadArtifact, ErrorEnvelope>> {
  const kept = await readArtifact(reader, given);
  if (kept.ok || kept.error.code !== 'artifact/unknown') return kept;
  const turn = await turns.find(given.replace(/^artifact:\/\//, ''));
  if (turn === undefined) return kept;
  const read = await turns.read(turn);
  if (!read.ok) return read;
  const { run, content, ...artifact } = read.value;
  return { ok: true, value: { run, artifact, content } };
}

function describe({ id, kind, name, key, version, bytes, node, createdAt }: ArtifactRecord): string {
  const of = key === undefined ? '' : `  ${shown(key)} v${version ?? '?'}`;
  return `${id}  ${kind.padEnd(8)}  ${shown(name)}${of}  ${bytes} bytes  ${shown(node ?? '')}  ${createdAt}`;
}

function contentOf({ artifact, content }: ReadArtifact): string {
  if (isText(artifact)) return shownLines(textOf(content)).join('\n');
  const what = artifact.alt === undefined ? '' : `: ${shown(artifact.alt)}`;
  return `${artifact.mimeType}, ${artifact.bytes} bytes${what}. Write it into a file with -o.`;
}

function isText({ mimeType }: ArtifactRecord): boolean {
  return mimeType.startsWith('text/') || mimeType === 'application/json';
}

function textOf(content: Uint8Array): string {
  return Buffer.from(content).toString('utf8');
}

/** Nothing that is there is written over. */
function written(file: string, content: Uint8Array): ErrorEnvelope | undefined {
  try {
    writeFileSync(file, content, { flag: 'wx' });
    return undefined;
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    return usageError(
      `${shown(file)} cannot be written (${code ?? String(cause)}).`,
      'Name a file that is not there yet.',
    );
  }
}
