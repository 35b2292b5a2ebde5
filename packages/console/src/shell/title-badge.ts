import { useEffect } from 'react';

/** The title with how many things need the person before it; none without any. */
export function badged(title: string, count: number): string {
  const plain = title.replace(/^\(\d+\) /, '');
  return count === 0 ? plain : `(${count}) ${plain}`;
}

/** Shows in the title of the tab how many things need the person. Pages write their titles themselves, so it is put back whenever one does. */
export function useTitleBadge(count: number): void {
  useEffect(() => {
    const put = () => {
      const wanted = badged(document.title, count);
      if (document.title !== wanted) document.title = wanted;
    };
    put();
    const watch = new MutationObserver(put);
    watch.observe(document.head, { subtree: true, childList: true, characterData: true });
    return () => watch.disconnect();
  }, [count]);
}
