import { money, tokens } from '../story/words.ts';
import type { Spending } from './spending.ts';

/** Money where it is known, and tokens. */
export function SpendingWords({ spending }: { readonly spending: Spending }) {
  const { costMicroUsd, inputTokens, outputTokens, isUnpriced } = spending;
  return (
    <span className="mono whitespace-nowrap" title={`${inputTokens} tokens in, ${outputTokens} out`}>
      {isUnpriced ? (costMicroUsd > 0 ? `≥ ${money(costMicroUsd)}` : 'no price known') : money(costMicroUsd)}
      <span className="text-faint"> · {tokens(inputTokens + outputTokens)} tokens</span>
    </span>
  );
}
