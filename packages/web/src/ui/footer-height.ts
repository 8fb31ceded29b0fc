/** What stands at the lower edge of the screen says how high it is, so that what is announced stands above it. */

/** For the `ref` of that element. */
export function reportFooterHeight(element: HTMLElement | null): (() => void) | undefined {
  if (!element) return
  const { style } = document.documentElement
  const eye = new ResizeObserver(() => style.setProperty('--footer-height', `${element.offsetHeight}px`))
  eye.observe(element)
  return () => {
    eye.disconnect()
    style.removeProperty('--footer-height')
  }
}
