import type { ReactNode } from 'react';

/** A part of a node's details with a title. */
export function Block({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <section className="block">
      <h3 className="eyebrow">{title}</h3>
      <div>{children}</div>
    </section>
  );
}

/** A name and its value. */
export function Pair({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
