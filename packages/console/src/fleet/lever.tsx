interface LeverProps {
  readonly words: string;
  /** What it acts on, for screen readers. */
  readonly of: string;
  readonly isBusy: boolean;
  onPress(): void;
}

/** A small button of a list. */
export function Lever({ words, of, isBusy, onPress }: LeverProps) {
  return (
    <button type="button" className="button button-small" disabled={isBusy} onClick={onPress}>
      {words}
      <span className="sr-only"> {of}</span>
    </button>
  );
}
