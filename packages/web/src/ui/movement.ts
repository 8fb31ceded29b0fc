/** Notices when an element moves because something else on the page grows or shrinks. A person who is about to click may then hit another element than the one they meant. */

interface Watched {
  /** The element itself or the element around it that sticks to an edge of the screen; null if there is none. */
  readonly sticky: HTMLElement | null
  readonly onPage: Position
  readonly onScreen: Position
  readonly movedAt: number
}
interface Position {
  readonly left: number
  readonly top: number
}

/** Browsers round positions differently from frame to frame. */
const toleranceMaxPx = 3

const watched = new Map<HTMLElement, Watched>()
/** The elements around the watched ones, with the number of watched elements inside. */
const surroundings = new Map<Element, number>()
let resizes: ResizeObserver | null = null
let changes: MutationObserver | null = null
let isScheduled = false

/** Watches an element until the returned function is called. */
export function watchMovement(element: HTMLElement): () => void {
  if (watched.size === 0) startObserving()
  const ancestors = ancestorsOf(element)
  const sticky = [element, ...ancestors].find(isSticky) ?? null
  watched.set(element, {
    sticky,
    onPage: positionOnPage(element, sticky),
    onScreen: element.getBoundingClientRect(),
    movedAt: Number.NEGATIVE_INFINITY,
  })
  for (const ancestor of ancestors) {
    const count = surroundings.get(ancestor) ?? 0
    if (count === 0) resizes?.observe(ancestor)
    surroundings.set(ancestor, count + 1)
  }
  return () => {
    watched.delete(element)
    for (const ancestor of ancestors) {
      const count = (surroundings.get(ancestor) ?? 1) - 1
      if (count > 0) surroundings.set(ancestor, count)
      else {
        surroundings.delete(ancestor)
        resizes?.unobserve(ancestor)
      }
    }
    if (watched.size === 0) changes?.disconnect()
  }
}

/** Watches for the two causes of movement: an ancestor of the element is resized, or content beside the element is added or removed while the ancestor of both keeps its size. */
function startObserving(): void {
  resizes ??= new ResizeObserver(measureAll)
  changes ??= new MutationObserver(measureAfterFrame)
  changes.observe(document.body, { childList: true, characterData: true, subtree: true })
}

function measureAfterFrame(): void {
  if (isScheduled) return
  isScheduled = true
  // After the frame, measuring does not make the browser lay out the page once more.
  requestAnimationFrame(() =>
    setTimeout(() => {
      isScheduled = false
      measureAll()
    }),
  )
}

/** Returns when the element last moved. */
export function movedAt(element: HTMLElement): number {
  const before = watched.get(element)
  // The element may have moved in the current frame.
  return before ? measure(element, before) : Number.NEGATIVE_INFINITY
}

function measureAll(): void {
  for (const [element, before] of watched) measure(element, before)
}

function measure(element: HTMLElement, before: Watched): number {
  const { sticky } = before
  const onPage = positionOnPage(element, sticky)
  const onScreen = element.getBoundingClientRect()
  // Scrolling changes only the position on the screen. An element that stays where it is on the screen moves only on the page.
  const moved = isFar(onPage, before.onPage) && isFar(onScreen, before.onScreen)
  const at = moved ? performance.now() : before.movedAt
  watched.set(element, { sticky, onPage, onScreen, movedAt: at })
  return at
}

function isFar(one: Position, other: Position): boolean {
  return Math.abs(one.left - other.left) > toleranceMaxPx || Math.abs(one.top - other.top) > toleranceMaxPx
}

/** Scrolling does not change this position. It would change the offset of a sticky element, so the end of the element around it is used instead. */
function positionOnPage(element: HTMLElement, sticky: HTMLElement | null): Position {
  let [left, top] = [0, 0]
  for (let at: Element | null = element; at instanceof HTMLElement; ) {
    const around: HTMLElement | null = at === sticky ? at.parentElement : null
    left += around ? around.offsetLeft + around.offsetWidth : at.offsetLeft
    top += around ? around.offsetTop + around.offsetHeight : at.offsetTop
    at = (around ?? at).offsetParent
  }
  return { left, top }
}

function isSticky(element: HTMLElement): boolean {
  return getComputedStyle(element).position === 'sticky'
}

function ancestorsOf(element: HTMLElement): readonly HTMLElement[] {
  const ancestors: HTMLElement[] = []
  for (let at = element.parentElement; at; at = at.parentElement) ancestors.push(at)
  return ancestors
}
