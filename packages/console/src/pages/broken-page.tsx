import { Refused } from '../shell/notices.tsx';

/** Instead of a page that threw, or that could not be loaded. The rest of the console goes on. */
export function BrokenPage({ error }: { readonly error: unknown }) {
  const told = {
    code: error instanceof Error ? error.name : 'Error',
    message: error instanceof Error ? error.message : String(error),
    suggestion: 'Nothing that runs is touched by it. Load the page again; if it stays so, please report it.',
  };
  return (
    <Refused page="Broken" error={told} title="This page cannot be shown">
      <p>
        <button type="button" className="button" onClick={() => location.reload()}>
          Load it again
        </button>
      </p>
    </Refused>
  );
}
