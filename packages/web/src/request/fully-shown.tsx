/** Tracks whether all of a request has been on the screen (G9). A request can be allowed only after the end of every scroll pane was visible. */
import {
  createContext,
  type ReactNode,
  type RefObject,
  use,
  useCallback,
  useEffect,
  useId,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react'
import { cardTexts } from './texts.ts'
import './fully-shown.css'

/** The reason why the end of a pane has not been seen: the pane must be scrolled, the card around the pane must be scrolled, or the pane is not on the screen yet. */
type UnseenReason = 'scrollPane' | 'scrollCard' | 'offscreen'
type Report = (pane: string, state: UnseenReason | 'seen') => void

export interface FullyShown {
  /** True once the end of every pane has been on the screen. */
  readonly complete: boolean
  /** True if the person still has to scroll a pane or the card. */
  readonly needsScrolling: boolean
  /** True if all panes are expanded. */
  readonly expanded: boolean
  readonly expand: () => void
  readonly report: Report
}

const FullyShownContext = createContext<FullyShown | null>(null)
export const FullyShownProvider = FullyShownContext

export function useFullyShown(): FullyShown {
  const [unseen, setUnseen] = useState<ReadonlyMap<string, UnseenReason>>(new Map())
  const [expanded, setExpanded] = useState(false)
  const report = useCallback<Report>((pane, state) => {
    setUnseen(before => {
      if (before.get(pane) === (state === 'seen' ? undefined : state)) return before
      const after = new Map(before)
      if (state === 'seen') after.delete(pane)
      else after.set(pane, state)
      return after
    })
  }, [])
  return useMemo(() => {
    // Once the person has seen the end of the card's body, only panes that scroll by themselves can hold unseen content.
    const remaining = [...unseen.values()].filter(reason => unseen.has(bodyPane) || reason === 'scrollPane')
    return {
      complete: remaining.length === 0,
      needsScrolling: remaining.some(reason => reason !== 'offscreen'),
      expanded,
      expand: () => setExpanded(true),
      report,
    }
  }, [unseen, expanded, report])
}

/** Pane id of the card's body, which must be seen to its end like every other pane. */
const bodyPane = 'body'

export interface ScrollPaneProps {
  readonly children: ReactNode
  /** Accessible name of the content. */
  readonly label: string
  /** A button below the content. */
  readonly action?: ReactNode
}

/** Shows short content as it is, and long content in a box that scrolls or expands. */
export function ScrollPane({ children, label, action }: ScrollPaneProps): ReactNode {
  const fullyShown = use(FullyShownContext)
  const [open, setOpen] = useState(false)
  const { box, end, overflows } = usePane(useId())
  const [isLong, setIsLong] = useState(false)
  if (overflows && !isLong) setIsLong(true)
  const expanded = isLong && (open || fullyShown?.expanded === true)
  return (
    <div className="scroll-pane">
      <figure
        ref={box}
        className={`scroll-box ${expanded ? 'expanded' : ''} ${overflows ? 'overflows' : ''}`}
        aria-label={label}
        tabIndex={overflows ? 0 : undefined}
      >
        {children}
        <div ref={end} className="scroll-end" />
      </figure>
      <div className="scroll-actions">
        {(overflows || expanded) && (
          <button type="button" className="button plain small" onClick={() => setOpen(!expanded)}>
            {expanded ? cardTexts.collapse : cardTexts.showAll}
          </button>
        )}
        {action}
      </div>
    </div>
  )
}

export interface ScrollHintProps {
  readonly fullyShown: FullyShown
  /** The action that the person can take after scrolling, such as "allow". */
  readonly action: string
}

/** Tells the person to scroll to the end before taking the action. The hint is hidden while there is nothing to scroll. */
export function ScrollHint({ fullyShown, action }: ScrollHintProps): ReactNode {
  if (fullyShown.complete) return null
  return <p className={`scroll-hint ${fullyShown.needsScrolling ? 'visible' : ''}`}>{cardTexts.scrollToEnd(action)}</p>
}

/** The content of a card. On a phone, long content scrolls as a whole, and then takes the keyboard focus so that keys can scroll it. */
export function CardBody({ children }: { readonly children: ReactNode }): ReactNode {
  const { box, end, overflows } = usePane(bodyPane)
  return (
    <figure ref={box} className="card-body" aria-label={cardTexts.body} tabIndex={overflows ? 0 : undefined}>
      <div className="card-rows">{children}</div>
      <div ref={end} className="scroll-end" />
    </figure>
  )
}

/** Reports to the card whether the pane's end has been on the screen. Returns refs for the pane's box and its end, and whether the box scrolls. */
function usePane(pane: string) {
  const report = use(FullyShownContext)?.report
  const box = useRef<HTMLElement>(null)
  const end = useRef<HTMLDivElement>(null)
  const seen = useHasBeenSeen(end)
  const [overflows, cardOverflows] = useOverflows(box)
  useLayoutEffect(() => {
    report?.(pane, seen ? 'seen' : overflows ? 'scrollPane' : cardOverflows ? 'scrollCard' : 'offscreen')
  }, [report, pane, seen, overflows, cardOverflows])
  // A pane that replaces this one reports in the same commit, after this.
  useLayoutEffect(() => () => report?.(pane, 'seen'), [report, pane])
  return { box, end, overflows }
}

/** How long the end of a pane must stay visible to count as seen. A shorter time would count an end that is visible only while the card is laid out. */
const dwellMs = 250

/** Returns true once the element has been visible for `dwellMs` without interruption, even if it is hidden later. */
function useHasBeenSeen(end: RefObject<HTMLElement | null>): boolean {
  const [seen, setSeen] = useState(false)
  useEffect(() => {
    const element = end.current
    if (!element || seen) return
    let timer: ReturnType<typeof setTimeout> | undefined
    const observer = new IntersectionObserver(entries => {
      clearTimeout(timer)
      if (entries.at(-1)?.isIntersecting) timer = setTimeout(onDwell, dwellMs)
    })
    const onDwell = () => {
      if (isDrawn(element)) setSeen(true)
      else timer = setTimeout(onDwell, dwellMs)
    }
    observer.observe(element)
    return () => {
      clearTimeout(timer)
      observer.disconnect()
    }
  }, [end, seen])
  return seen
}

/** Returns whether the text before the end of a pane is drawn. A long text is drawn in chunks (`LazyChunks`). */
function isDrawn(end: HTMLElement): boolean {
  const last = [...(end.parentElement?.querySelectorAll('.lazy-chunk') ?? [])].at(-1)
  return last?.getAttribute('aria-busy') !== 'true'
}

/** Returns two facts: whether the pane itself scrolls, and whether the pane or the card's body scrolls. The card's body scrolls only on a phone. */
function useOverflows(box: RefObject<HTMLElement | null>): readonly [pane: boolean, paneOrCard: boolean] {
  const [overflows, setOverflows] = useState(false)
  const [cardOverflows, setCardOverflows] = useState(false)
  useLayoutEffect(() => {
    const element = box.current
    if (!element) return
    const body = element.closest('.card-body')
    const measure = () => {
      setOverflows(scrolls(element))
      setCardOverflows(scrolls(element) || (body !== null && scrolls(body)))
    }
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    if (body) observer.observe(body)
    for (const child of element.children) observer.observe(child)
    measure()
    return () => observer.disconnect()
  }, [box])
  return [overflows, cardOverflows]
}

function scrolls({ scrollHeight, clientHeight }: Element): boolean {
  return scrollHeight > clientHeight + 1
}
