import { Dialog } from './dialog.tsx';
import { usePageActionList } from './page-actions.ts';
import type { PageLink } from './use-pages.ts';
import { words } from './words.ts';

const everywhere = [
  ['Ctrl K', 'do anything, go anywhere'],
  ['u', 'undo what was just done, while it is offered'],
  ['/', 'search on this page'],
  ['?', 'these keys'],
] as const;

const lists = [
  ['j  k', 'next, previous'],
  ['Enter', 'open it'],
] as const;

const run = [
  ['←  →', 'in the tree: close, open'],
  ['[  ]', 'previous frame, next frame'],
  ['.', 'back to now'],
] as const;

/** The keys: those of what is on the page, and those that work everywhere. */
export function KeyHelp({ pages, onClose }: { readonly pages: readonly PageLink[]; onClose(): void }) {
  const actions = usePageActionList();
  const here = actions.flatMap(({ key, name }) => (key === undefined ? [] : [[key, name] as const]));
  const { keyGroups } = words;
  const groups = [
    ...(here.length > 0 ? [[keyGroups.here, here] as const] : []),
    [keyGroups.everywhere, everywhere],
    [keyGroups.pages, pages.map(({ key, name }) => [`g ${key}`, name] as const)],
    [keyGroups.lists, lists],
    [keyGroups.run, run],
  ] as const;
  return (
    <Dialog title={words.keys} className="dialog-wide" onClose={onClose}>
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
