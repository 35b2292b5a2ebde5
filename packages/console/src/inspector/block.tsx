import type { ReactNode } from 'react';

/** A part of what is told of a node, with its name over it. */
export function Block({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <section className="block">
      <h3 className="eyebrow">{title}</h3>
      <div>{children}</div>
    </section>
  );
}

/** A fact of a list of facts. */
export function Pair({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
