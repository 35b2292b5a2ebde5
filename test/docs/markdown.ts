/** A fenced block: the language, the name of the file that it is (`tsx [plan.tsx]`), and its text. */
export interface Block {
  readonly language: string;
  readonly file: string | undefined;
  readonly text: string;
  /** The line of its text, from 1. */
  readonly line: number;
}

export interface Link {
  readonly target: string;
  readonly line: number;
}

const FENCE = /^( *)```(\S*)(?: \[([^\]]+)\])?[^\n]*\n([\s\S]*?)^\1```$/gm;

export function blocksIn(page: string): readonly Block[] {
  return [...page.matchAll(FENCE)].map(({ index, 1: indent = '', 2: language = '', 3: file, 4: text = '' }) => ({
    language,
    file,
    text: text.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
    line: page.slice(0, index).split('\n').length + 1,
  }));
}

/** Links and images in the text, not in code. */
export function linksIn(page: string): readonly Link[] {
  const text = page.replace(FENCE, blanked).replace(/(`+)[^`][\s\S]*?\1/g, blanked);
  return [...text.matchAll(/\]\((?:<([^>]+)>|([^\s)]+))[^)]*\)/g)].map(({ index, 1: quoted, 2: plain = '' }) => ({
    target: quoted ?? plain,
    line: text.slice(0, index).split('\n').length,
  }));
}

/** The anchors of a page's headings, as GitHub and the site make them. */
export function anchorsIn(page: string): ReadonlySet<string> {
  const headings = [...page.replace(FENCE, blanked).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => heading);
  return new Set(
    headings.map(heading =>
      heading
        .toLowerCase()
        .replace(/[^\p{L}\p{N}\s_-]/gu, '')
        .trim()
        .replace(/\s/g, '-'),
    ),
  );
}

/** What `signalbox …` calls a page has, in code of any kind: each as its words. */
export function callsIn(page: string): readonly { readonly words: readonly string[]; readonly line: number }[] {
  const calls = [...page.matchAll(/(?<=[`$"(] ?|^ {4}|^)signalbox ([a-z][^\n`]*)/gm)];
  return calls.map(({ index, 1: rest = '' }) => ({
    words: rest.match(/"[^"]*"|'[^']*'|\S+/g) ?? [],
    line: page.slice(0, index).split('\n').length,
  }));
}

function blanked(text: string): string {
  return text.replace(/[^\n]/g, ' ');
}
