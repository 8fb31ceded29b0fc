/** Publishes the height of a bar at the bottom as a CSS variable, so that toasts appear above it. Use it as a ref. */
export function reportHeight(bar: HTMLElement | null): (() => void) | undefined {
  if (!bar) return
  const { style } = document.documentElement
  const observer = new ResizeObserver(() => style.setProperty('--footer-height', `${bar.offsetHeight}px`))
  observer.observe(bar)
  return () => {
    observer.disconnect()
    style.removeProperty('--footer-height')
  }
}
