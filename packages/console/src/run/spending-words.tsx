import { money, tokens } from '../story/words.ts';
import type { Spending } from './spending.ts';

/** Cost and tokens. */
export function SpendingWords({ spending }: { readonly spending: Spending }) {
  const { costMicroUsd, inputTokens, outputTokens } = spending;
  return (
    <span className="mono whitespace-nowrap" title={`${inputTokens} tokens in, ${outputTokens} out`}>
      {money(costMicroUsd)}
      <span className="text-faint">
        <span className="spending-dot"> · </span>
        {tokens(inputTokens + outputTokens)} tokens
      </span>
    </span>
  );
}
