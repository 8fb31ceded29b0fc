/** Nobody allows what was not shown whole (G9): a window onto long content knows whether its end has been on the screen, and the card asks. */
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
import './fully-shown.css'

/** Of one window: its end must be scrolled to inside of it, or inside of all that is asked; or it has simply not come onto the screen yet. */
type ScrollHint = 'inside' | 'further' | 'offscreen'
type Report = (pane: string, state: ScrollHint | 'seen') => void

export interface FullyShown {
  /** Every end has been on the screen. */
  readonly shown: boolean
  /** There is something to scroll to inside a window. */
  readonly further: boolean
  /** Every window is unfolded. */
  readonly unfolded: boolean
  readonly unfold: () => void
  readonly report: Report
}

const WholeContext = createContext<FullyShown | null>(null)
export const FullyShownProvider = WholeContext

export function useFullyShown(): FullyShown {
  const [unseen, setUnseen] = useState<ReadonlyMap<string, ScrollHint>>(new Map())
  const [unfolded, setUnfolded] = useState(false)
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
    // Whoever has come to the end of all that is asked has passed what stands above it, but not what scrolls by itself.
    const left = [...unseen.values()].filter(state => unseen.has(body) || state === 'inside')
    return {
      shown: left.length === 0,
      further: left.some(state => state !== 'offscreen'),
      unfolded,
      unfold: () => setUnfolded(true),
      report,
    }
  }, [unseen, unfolded, report])
}

/** All that is asked is a window, too. */
const body = 'body'

export interface ScrollPaneProps {
  readonly children: ReactNode
  /** What is in it, for those who do not see it. */
  readonly label: string
}

/** Content in its full length: short as it is, long in a window that scrolls or unfolds. */
export function ScrollPane({ children, label }: ScrollPaneProps): ReactNode {
  const whole = use(WholeContext)
  const [open, setOpen] = useState(false)
  const { box, end, overflows } = useWindow(useId())
  const unfolded = open || whole?.unfolded === true
  return (
    <div className="scroll-pane">
      <figure
        ref={box}
        className={`scroll-box ${unfolded ? 'expanded' : ''} ${overflows ? 'overflows' : ''}`}
        aria-label={label}
        tabIndex={overflows ? 0 : undefined}
      >
        {children}
        <div ref={end} className="scroll-end" />
      </figure>
      {(overflows || unfolded) && (
        <button type="button" className="button plain small scroll-more" onClick={() => setOpen(!unfolded)}>
          {unfolded ? 'Fold it' : 'Show all of it'}
        </button>
      )}
    </div>
  )
}

/** Why the yes cannot be pressed yet. */
export function ScrollHint({ whole, deed }: { readonly whole: FullyShown; readonly deed: string }): ReactNode {
  if (whole.shown) return null
  return <p className={`scroll-hint ${whole.further ? 'visible' : ''}`}>Scroll to the end to {deed}.</p>
}

/** All that is asked, with what is said against it: on a phone it scrolls as one, and then it can be reached by keyboard. */
export function CardBody({ children }: { readonly children: ReactNode }): ReactNode {
  const { box, end, overflows } = useWindow(body)
  return (
    <figure ref={box} className="card-body" aria-label="What is asked" tabIndex={overflows ? 0 : undefined}>
      <div className="card-rows">{children}</div>
      <div ref={end} className="scroll-end" />
    </figure>
  )
}

/** Tells the card around it whether its end has been on the screen. */
function useWindow(pane: string) {
  const report = use(WholeContext)?.report
  const box = useRef<HTMLElement>(null)
  const end = useRef<HTMLDivElement>(null)
  const seen = useSeen(end)
  const [overflows, further] = useOverflows(box)
  useLayoutEffect(() => {
    report?.(pane, seen ? 'seen' : overflows ? 'inside' : further ? 'further' : 'offscreen')
  }, [report, pane, seen, overflows, further])
  useEffect(() => () => report?.(pane, 'seen'), [report, pane])
  return { box, end, overflows }
}

/** What flits by while a card takes shape was not seen. */
const dwellMs = 250

/** Once seen, it has been seen. */
function useSeen(end: RefObject<HTMLElement | null>): boolean {
  const [seen, setSeen] = useState(false)
  useEffect(() => {
    const element = end.current
    if (!element || seen) return
    let timer: ReturnType<typeof setTimeout> | undefined
    const observer = new IntersectionObserver(entries => {
      clearTimeout(timer)
      if (entries.at(-1)?.isIntersecting) timer = setTimeout(() => setSeen(true), dwellMs)
    })
    observer.observe(element)
    return () => {
      clearTimeout(timer)
      observer.disconnect()
    }
  }, [end, seen])
  return seen
}

/** Whether the window itself scrolls; and whether it or, on a phone, all that it stands in does. */
function useOverflows(box: RefObject<HTMLElement | null>): readonly [overflows: boolean, further: boolean] {
  const [overflows, setOverflows] = useState(false)
  const [further, setFurther] = useState(false)
  useLayoutEffect(() => {
    const element = box.current
    if (!element) return
    const body = element.closest('.card-body')
    const measure = () => {
      setOverflows(scrolls(element))
      setFurther(scrolls(element) || (body !== null && scrolls(body)))
    }
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    if (body) observer.observe(body)
    for (const child of element.children) observer.observe(child)
    measure()
    return () => observer.disconnect()
  }, [box])
  return [overflows, further]
}

function scrolls({ scrollHeight, clientHeight }: Element): boolean {
  return scrollHeight > clientHeight + 1
}
