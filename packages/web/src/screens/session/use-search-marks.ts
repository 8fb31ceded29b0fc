/** Colors the searched text where it is drawn in the transcript, without changing the text itself. Rows that the virtual list adds later are colored too. */
import { type RefObject, useEffect } from 'react'

const highlightName = 'transcript-search'
const rangesMax = 500

export function useSearchMarks(scroller: RefObject<HTMLElement | null>, query: string): void {
  useEffect(() => {
    const element = scroller.current
    // Older browsers only mark the entry.
    if (!element || query === '' || !('highlights' in CSS)) return
    let frame = 0
    const mark = () => {
      CSS.highlights.set(highlightName, new Highlight(...rangesOf(element, query.toLowerCase())))
    }
    const observer = new MutationObserver(() => {
      cancelAnimationFrame(frame)
      frame = requestAnimationFrame(mark)
    })
    observer.observe(element, { childList: true, subtree: true, characterData: true })
    mark()
    return () => {
      observer.disconnect()
      cancelAnimationFrame(frame)
      CSS.highlights.delete(highlightName)
    }
  }, [scroller, query])
}

function rangesOf(element: HTMLElement, query: string): readonly Range[] {
  const ranges: Range[] = []
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT)
  for (let node = walker.nextNode(); node && ranges.length < rangesMax; node = walker.nextNode()) {
    const text = node.textContent?.toLowerCase() ?? ''
    // Some letters have another length in lower case, and their offsets would be wrong.
    if (text.length !== node.textContent?.length) continue
    for (
      let at = text.indexOf(query);
      at >= 0 && ranges.length < rangesMax;
      at = text.indexOf(query, at + query.length)
    ) {
      const range = new Range()
      range.setStart(node, at)
      range.setEnd(node, at + query.length)
      ranges.push(range)
    }
  }
  return ranges
}
