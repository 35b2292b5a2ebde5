import { Dialog } from './dialog.tsx';
import type { PageLink } from './use-pages.ts';

const everywhere = [
  ['Ctrl K', 'go anywhere, do anything'],
  ['/', 'search on this page'],
  ['?', 'these keys'],
] as const;

const lists = [
  ['j  k', 'next, previous'],
  ['Enter', 'open it'],
] as const;

const queue = [
  ['a', 'approve'],
  ['d', 'deny'],
  ['m', 'approve with other arguments'],
  ['x', 'select, for an answer to many'],
] as const;

const run = [
  ['←  →', 'in the tree: close, open'],
  ['[  ]', 'a frame back, a frame on'],
  ['.', 'back to now'],
] as const;

/** The keys there are. */
export function KeyHelp({ pages, onClose }: { readonly pages: readonly PageLink[]; onClose(): void }) {
  const groups = [
    ['Everywhere', everywhere],
    ['Pages', pages.map(({ key, name }) => [`g ${key}`, name] as const)],
    ['Lists', lists],
    ['Queue', queue],
    ['A run', run],
  ] as const;
  return (
    <Dialog title="Keys" className="dialog-wide" onClose={onClose}>
      <div className="keyhelp">
        {groups.map(([title, keys]) => (
          <section key={title}>
            <h3 className="eyebrow">{title}</h3>
            <dl>
              {keys.map(([key, does]) => (
                <div key={key}>
                  <dt>
                    <kbd>{key}</kbd>
                  </dt>
                  <dd>{does}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  );
}
