/** The value of an answer that a test counts on; the test fails with what went wrong where there is none. */
export function given<T>(
  answer: { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: object },
): T {
  if (!answer.ok) throw new Error(JSON.stringify(answer.error));
  return answer.value;
}
