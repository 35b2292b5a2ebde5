import Markdown, { type Components } from 'react-markdown';
import remarkGfm from 'remark-gfm';

/** Loads nothing from elsewhere: an image is its text. Links send no referrer. */
const components: Components = {
  img: ({ alt }) => <span className="text-muted">[{alt === undefined || alt === '' ? 'image' : alt}]</span>,
  a: ({ href, children }) => (
    <a href={href} target="_blank" rel="noreferrer noopener">
      {children}
    </a>
  ),
};

const plugins = [remarkGfm];

/** Text of an agent or a plan, as Markdown. HTML in it stays text. */
export function Prose({ text }: { readonly text: string }) {
  return (
    <div className="prose">
      <Markdown remarkPlugins={plugins} components={components}>
        {text}
      </Markdown>
    </div>
  );
}
