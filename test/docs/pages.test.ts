import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { transformSync } from 'esbuild';
import { describe, expect, it } from 'vitest';
import { commands } from '../../packages/signalbox/src/commands.ts';
import { type ProgramCommand, programCommands } from '../../scripts/reference/cli-reference.ts';
import { readSources, repositoryRoot } from '../source-file.ts';
import { anchorsIn, blocksIn, callsIn, linksIn } from './markdown.ts';

/** Pages that people read. */
const pages = readSources(file => /^(?:[A-Z]+|docs\/.+|examples\/.+|packages\/[^/]+\/README)\.md$/.test(file));

describe('[X150] the documentation', () => {
  it('links to files and headings that exist', () => {
    const broken = pages.flatMap(({ path: page, source }) =>
      linksIn(source)
        .filter(({ target }) => !/^[a-z]+:/i.test(target) && !leadsSomewhere(page, target))
        .map(({ target, line }) => `${page}:${line} ${target}`),
    );
    expect(broken).toEqual([]);
    expect(pages.flatMap(({ source }) => linksIn(source)).length).toBeGreaterThan(200);
  });

  it('can be reached page by page from the front page', () => {
    const known = new Map(pages.map(({ path: page, source }) => [page, source]));
    const reached = new Set(['README.md']);
    for (const page of reached) {
      for (const { target } of linksIn(known.get(page) ?? '')) {
        const file = path.posix.join(path.posix.dirname(page), target.replace(/#.*/, ''));
        if (known.has(file)) reached.add(file);
      }
    }
    const docs = [...known.keys()].filter(
      page => /^docs\/(reference\/)?[^/]+\.md$/.test(page) && page !== 'docs/index.md',
    );
    expect(docs.filter(page => !reached.has(page))).toEqual([]);
  });
});

function leadsSomewhere(page: string, target: string): boolean {
  const [file = '', anchor] = target.split('#');
  // The site's front page links as the site does.
  const own = file.startsWith('/') ? `docs${file}.md` : path.posix.join(path.posix.dirname(page), file);
  const found = file === '' ? page : own;
  if (!existsSync(path.join(repositoryRoot, found))) return false;
  if (anchor === undefined || !found.endsWith('.md')) return true;
  return anchorsIn(readFileSync(path.join(repositoryRoot, found), 'utf8')).has(anchor);
}

describe('[X153] a block of code in the documentation', () => {
  const blocks = pages.flatMap(({ path: page, source }) => blocksIn(source).map(block => ({ page, ...block })));

  it('can be parsed', () => {
    const faulty = blocks.flatMap(({ page, line, language, text }) => {
      const problem = problemOf(language, text);
      return problem === undefined ? [] : [`${page}:${line} ${problem}`];
    });
    expect(faulty).toEqual([]);
    expect(blocks.filter(({ language }) => language === 'tsx').length).toBeGreaterThan(10);
  });
});

/** `…` stands for what is left out, as a statement, a member or an element. */
function problemOf(language: string, text: string): string | undefined {
  try {
    if (language === 'json') JSON.parse(text);
    if (language === 'ts' || language === 'tsx' || language === 'js') {
      const given = text
        .replace(/^(\s*)…$/gm, '$1')
        .replace(/, … /g, ' ')
        .replace(/=> …/g, '=> {}')
        .replace(/ … /g, ' ');
      try {
        transformSync(given, { loader: 'tsx', jsx: 'preserve' });
      } catch {
        // A reference shows declarations.
        transformSync(`declare namespace shown { ${given} }`, { loader: 'ts' });
      }
    }
    return undefined;
  } catch (cause) {
    return String(cause).split('\n').slice(0, 2).join(' ');
  }
}

describe('[X154] a command that the documentation names', () => {
  it('exists, with its options', async () => {
    const known = new Map(
      (await Promise.all(commands.map(programCommands))).flat().map(command => [command.name, command]),
    );
    const unknown = pages
      .filter(({ path: page }) => !/^(CHANGELOG|docs\/decisions\/)/.test(page))
      .flatMap(({ path: page, source }) =>
        callsIn(source).flatMap(({ words, line }) => {
          const problem = problemOfCall(words, known);
          return problem === undefined ? [] : [`${page}:${line} signalbox ${words.join(' ')}: ${problem}`];
        }),
      );
    expect(unknown).toEqual([]);
    expect(pages.flatMap(({ source }) => callsIn(source)).length).toBeGreaterThan(300);
  });
});

function problemOfCall(words: readonly string[], known: ReadonlyMap<string, ProgramCommand>): string | undefined {
  const [first = '', second = ''] = words.map(word => word.replace(/[.,;:)"]+$/, ''));
  const command = known.get(`${first} ${second}`) ?? known.get(first);
  if (command === undefined) return `there is no command ${first}`;
  const hasParts = [...known.keys()].some(name => name.startsWith(`${first} `));
  if (hasParts && command.name === first && !command.takesArguments && /^[a-z]+$/.test(second)) {
    return `there is no command ${first} ${second}`;
  }
  const end = words.findIndex(word => /^[#|>&;]|^\w.*(?:[;:]|"\.?)$/.test(word));
  const options = (end < 0 ? words : words.slice(0, end + 1)).filter(word => /^--?[a-z]/.test(word));
  const wrong = options
    .map(option => option.replace(/[=.,;:)"'\]].*$/, ''))
    .find(option => !command.options.includes(option) && option !== '--help' && option !== '-h');
  return wrong === undefined ? undefined : `it has no option ${wrong}`;
}
