import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { defineConfig, type MarkdownRenderer } from 'vitepress';

const docs = path.join(import.meta.dirname, '..');

/** The first heading of a page. */
function titleOf(page: string): string {
  return /^# (.+)$/m.exec(readFileSync(path.join(docs, `${page}.md`), 'utf8'))?.[1] ?? page;
}

const section = (text: string, pages: readonly string[]) => ({
  text,
  items: pages
    .filter(page => existsSync(path.join(docs, `${page}.md`)))
    .map(page => ({ text: titleOf(page), link: `/${page}` })),
});

/** Pages by section, in order. A page that is in none is at the end, so that none is lost. */
const sections: Readonly<Record<string, readonly string[]>> = {
  Start: ['get-started', 'concepts', 'overview', 'why'],
  'Write plans': [
    'writing-plans',
    'agents',
    'people',
    'tools',
    'failure',
    'testing-plans',
    'budgets',
    'meter',
    'going-back',
    'embedding',
  ],
  'Guide agents': ['guided-workflows', 'workflow-format', 'fleet'],
  Operate: ['ci', 'deploying', 'backups', 'upgrading', 'troubleshooting', 'logs', 'metrics', 'retention'],
  Trust: ['security', 'sandbox', 'sharing-a-directory', 'secrets', 'plans-and-trust', 'tour-of-the-journal'],
  Reference: [
    'reference/plan-api',
    'reference/cli',
    'reference/configuration',
    'reference/errors',
    'reference/api',
    'reference/events',
    'reference/access',
    'reference/agent-tools',
    'reference/operator-tools',
  ],
  Contribute: ['contributing', 'architecture', 'decisions/README'],
};

const listed = new Set(Object.values(sections).flat());
const rest = readdirSync(docs)
  .filter(file => file.endsWith('.md'))
  .map(file => file.slice(0, -3))
  .filter(page => page !== 'index' && !listed.has(page));

export default defineConfig({
  title: 'Signalbox',
  description: 'A local-first control plane for AI agents.',
  cleanUrls: true,
  // Pages name files of the repository too (examples, tests, the glossary); test/docs/links.test.ts checks that they exist.
  ignoreDeadLinks: [/^(\.\/)?(\.\.\/)+(?!reference|decisions)/, /^\.\/\.\.\//],
  themeConfig: {
    sidebar: [
      ...Object.entries(sections).map(([text, pages]) => section(text, pages)),
      ...(rest.length === 0 ? [] : [section('More', rest)]),
    ],
    outline: [2, 3],
    search: { provider: 'local' },
  },
  // Pages are plain Markdown, which must read the same in the repository: no HTML, and nothing is a Vue expression.
  markdown: {
    html: false,
    config(md) {
      md.core.ruler.before('normalize', 'comments', state => {
        state.src = state.src.replace(/^<!--[\s\S]*?-->$/gm, '');
      });
      leaveOutForeignLinks(md);
      showBraces(md);
    },
  },
});

/** Two braces are text, and not the beginning of a Vue expression. */
function showBraces(md: MarkdownRenderer): void {
  for (const name of ['text', 'code_inline', 'fence', 'code_block']) {
    const rule = md.renderer.rules[name] as NonNullable<(typeof md.renderer.rules)[string]>;
    md.renderer.rules[name] = (...given) => rule(...given).replaceAll('{{', '&#123;&#123;');
  }
}

/** A link to a file that is no page stays text: on the site it would lead nowhere. */
function leaveOutForeignLinks(md: MarkdownRenderer): void {
  md.core.ruler.push('foreign-links', state => {
    const page = (state.env as { readonly path?: string }).path ?? docs;
    for (const { children } of state.tokens) {
      let isForeign = false;
      for (const token of children ?? []) {
        if (token.type === 'link_open') isForeign = leavesSite(page, token.attrGet('href') ?? '');
        if (isForeign && (token.type === 'link_open' || token.type === 'link_close')) {
          token.type = 'text';
          token.tag = '';
          token.nesting = 0;
          token.content = '';
        }
      }
    }
  });
}

function leavesSite(page: string, href: string): boolean {
  if (/^[a-z]+:|^[#/]/i.test(href)) return false;
  const target = path.resolve(path.dirname(page), href.replace(/#.*$/, ''));
  return path.relative(docs, target).startsWith('..') || (!/\.(md|html)$/.test(target) && existsSync(target));
}
