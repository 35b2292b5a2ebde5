import Markdown, { type Components } from 'react-markdown';
import remarkGfm from 'remark-gfm';

/** Nothing is loaded from elsewhere: an image is its words. A link leaves without telling where it came from. */
const components: Components = {
  img: ({ alt }) => <span className="text-muted">[{alt === undefined || alt === '' ? 'image' : alt}]</span>,
  a: ({ href, children }) => (
    <a href={href} target="_blank" rel="noreferrer noopener">
      {children}
    </a>
  ),
};

const plugins = [remarkGfm];

/** What an agent or a plan wrote, as Markdown. HTML in it stays text. */
export function Prose({ text }: { readonly text: string }) {
  return (
    <div className="prose">
      <Markdown remarkPlugins={plugins} components={components}>
        {text}
      </Markdown>
    </div>
  );
}
