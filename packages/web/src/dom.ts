/** Building elements without markup: text only ever becomes text. */

export type Child = Node | string | null | false

type Props<K extends keyof HTMLElementTagNameMap> = Partial<Omit<HTMLElementTagNameMap[K], 'children'>>

/** `el('p.note', {…}, …)`: a tag, its classes, its properties, its children. */
export function el<K extends keyof HTMLElementTagNameMap>(
  spec: K | `${K}.${string}`,
  props: Props<K> = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const [tag, ...classes] = spec.split('.')
  const element = document.createElement(tag as K) // what stands before the first dot is the tag
  element.className = classes.join(' ')
  Object.assign(element, props)
  element.append(...children.filter(child => child !== null && child !== false))
  return element
}

/** Writes only where something changed: a selection, a tooltip or a screen reader is not disturbed for nothing. */
export function setText(element: HTMLElement, text: string): void {
  if (element.textContent !== text) element.textContent = text
}

/** Brings the children into this order and moves only those that are out of place, so that what has the focus keeps it. */
export function arrange(parent: HTMLElement, wanted: readonly HTMLElement[]): void {
  for (const child of [...parent.children]) if (!wanted.includes(child as HTMLElement)) child.remove() // only elements are put here
  wanted.forEach((child, place) => {
    if (parent.children[place] !== child) parent.insertBefore(child, parent.children[place] ?? null)
  })
}

/** A finger has no pointer that rests anywhere: only where hovering exists does something lie under it. */
export function underPointer(element: HTMLElement): boolean {
  return matchMedia('(hover: hover)').matches && element.matches(':hover')
}

/** The address names what is shown: #session=…, or nothing for everything that waits. */
export function readFragment(name: string): string | null {
  return new URLSearchParams(location.hash.slice(1)).get(name)
}
