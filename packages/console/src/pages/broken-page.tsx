import { Refused } from '../shell/notices.tsx';

/** Shown instead of a page that threw or could not be loaded. The rest of the console keeps working. */
export function BrokenPage({ error }: { readonly error: unknown }) {
  const told = {
    code: error instanceof Error ? error.name : 'Error',
    message: error instanceof Error ? error.message : String(error),
    suggestion: 'Your runs are not affected. Reload the page; if the problem persists, please report it.',
  };
  return (
    <Refused page="Broken" error={told} title="This page cannot be shown">
      <p>
        <button type="button" className="button" onClick={() => location.reload()}>
          Reload
        </button>
      </p>
    </Refused>
  );
}
