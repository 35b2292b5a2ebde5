/** The column headers of a list of runs. Screen readers get them from the rows. */
export function RunHints({ isWide = false }: { readonly isWide?: boolean }) {
  return (
    <div className="runhints" aria-hidden="true">
      <span />
      <span>run</span>
      <span>status</span>
      {isWide && (
        <>
          <span data-column="tags">tags</span>
          <span data-column="used">tokens</span>
        </>
      )}
      <span data-column="frames">frames</span>
      <span data-column="time">took</span>
      <span data-column="began">started</span>
      <span data-column="changed">last change</span>
    </div>
  );
}
