/** Asks again until there is an answer, however long that takes. */
export async function until<T>(ask: () => T | undefined | Promise<T | undefined>): Promise<T> {
  for (;;) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    await new Promise(resolve => setTimeout(resolve, 5));
  }
}
