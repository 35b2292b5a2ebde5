import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { repositoryRoot } from './source-file.ts';

const document = readFileSync(path.join(repositoryRoot, 'docs/security.md'), 'utf8');
const isThere = (file: string) => existsSync(path.join(repositoryRoot, file));

/** The names of OWASP's Top 10 for Agentic Applications 2026. */
const RISKS = [
  'ASI01 Agent Goal Hijack',
  'ASI02 Tool Misuse and Exploitation',
  'ASI03 Identity and Privilege Abuse',
  'ASI04 Agentic Supply Chain Vulnerabilities',
  'ASI05 Unexpected Code Execution (RCE)',
  'ASI06 Memory and Context Poisoning',
  'ASI07 Insecure Inter-Agent Communication',
  'ASI08 Cascading Failures',
  'ASI09 Human-Agent Trust Exploitation',
  'ASI10 Rogue Agents',
];

/** The rows of the tables whose last column is tests: the first cell, and the files that the last one names. */
function rows(text: string): readonly { readonly name: string; readonly tests: readonly string[] }[] {
  return text.split('\n').flatMap(line => {
    const cells = line.split('|').map(cell => cell.trim());
    const tests = [...(cells.at(-2) ?? '').matchAll(/`([^`]+)`/g)].map(([, file = '']) => file);
    return cells.length > 4 && /^(ASI\d\d .+|\d)$/.test(cells[1] ?? '') ? [{ name: cells[1] ?? '', tests }] : [];
  });
}

describe('docs/security.md', () => {
  const found = rows(document);

  it('[A313] has every risk of the list, in order, and every boundary of the picture', () => {
    const boundaries = [...document.matchAll(/\((\d)\)/g)].map(([, number = '']) => number).sort();
    expect(found.map(({ name }) => name)).toEqual([...boundaries, ...RISKS]);
  });

  it('[A313] names tests that exist, at least one a row', () => {
    expect(found.filter(({ tests }) => tests.length === 0)).toEqual([]);
    const missing = found.flatMap(({ tests }) => tests).filter(file => !/\.test\.tsx?$/.test(file) || !isThere(file));
    expect(missing).toEqual([]);
  });

  it.each(['docs/security.md', 'SECURITY.md'])('links to files that exist: %s', file => {
    const text = readFileSync(path.join(repositoryRoot, file), 'utf8');
    const links = [...text.matchAll(/\]\(([^)#]+)(?:#[^)]*)?\)/g)].map(([, link = '']) => link);
    const local = links.filter(link => !/^https?:/.test(link)).map(link => path.join(path.dirname(file), link));
    expect([local.length > 0, local.filter(link => !isThere(link))]).toEqual([true, []]);
  });
});
