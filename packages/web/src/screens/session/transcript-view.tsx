/** The transcript as a virtual list, which starts at the newest entry and loads earlier entries when the person scrolls up. */
import { cutMiddle, displayText, type Entry, omissionMarker } from '@holdpoint/client'
import ArrowDownIcon from 'lucide-react/icons/arrow-down'
import {
  type ReactNode,
  type Ref,
  type RefObject,
  use,
  useCallback,
  useEffect,
  useImperativeHandle,
  useLayoutEffect,
  useReducer,
  useRef,
  useState,
} from 'react'
import { Virtualizer, type VirtualizerHandle } from 'virtua'
import { errorMessage } from '../../gateway/error-message.ts'
import { formatCount } from '../../text/format-amounts.ts'
import { Skeleton } from '../../ui/skeleton.tsx'
import { EntryRow } from './entry-row.tsx'
import { ExpandedContext, MarkedContext } from './expanded-entries.ts'
import { transcriptTexts } from './texts.ts'
import { useSearchMarks } from './use-search-marks.ts'
import { useStickToEnd } from './use-stick-to-end.ts'
import type { TranscriptReading } from './use-transcript.ts'
import { nextVisible, turnStart, unseenSince, type VisibleEntries } from './visible-entries.ts'
import './transcript-view.css'

/** The previous page is loaded when the first entry is at most this far above the visible part. */
const loadAheadPx = 2000
/** The height of the line above the first entry; must match transcript-view.css. */
const topPx = 48
/** Screen readers announce at most this many characters of a message. */
const spokenMax = 300

export interface TranscriptNavigation {
  /** Scrolls to an entry and marks it. A tool call is expanded if `expand` is set. */
  readonly show: (id: string, expand?: boolean) => void
  /** Scrolls to the next or previous request. */
  readonly showRequest: (direction: 1 | -1) => void
}

export interface TranscriptViewProps {
  readonly reading: TranscriptReading
  readonly navigation: Ref<TranscriptNavigation>
  /** The searched text, which is colored. */
  readonly query: string
  /** The search field above the entries. */
  readonly children?: ReactNode
}

export function TranscriptView({ reading, ...props }: TranscriptViewProps): ReactNode {
  if (!reading.loaded)
    return (
      <div className="transcript-frame">
        <div className="transcript">
          <div className="transcript-empty">
            {reading.problem ? <LoadError {...reading} /> : <Skeleton kind="row" />}
          </div>
        </div>
      </div>
    )
  return <EntryList reading={reading} {...props} />
}

function LoadError({ problem, retry }: TranscriptReading): ReactNode {
  return (
    <div role="alert">
      <p>The transcript couldn’t be loaded: {errorMessage(problem)}</p>
      <button type="button" className="button" onClick={retry}>
        Try again
      </button>
    </div>
  )
}

function EntryList({ reading, navigation, query, children }: TranscriptViewProps): ReactNode {
  const { entries: all, earlier, loadEarlier } = reading
  const scroller = useRef<HTMLDivElement>(null)
  const list = useRef<VirtualizerHandle>(null)
  const { atEnd, keepAtEnd, onScroll: onListScroll, scrollToEnd, leaveEnd } = useStickToEnd(scroller)
  const { entries, shift } = useVisibleEntries(all)
  const marked = useNavigation(navigation, { entries, list, leaveEnd })
  useSearchMarks(scroller, query)
  const { failed, loadIfNear } = useEarlier(scroller, earlier, loadEarlier)
  const newCount = useNewCount(all, atEnd)
  const announced = useAnnounced(all)
  // biome-ignore lint/correctness/useExhaustiveDependencies: this effect must run whenever the entries change
  useLayoutEffect(keepAtEnd, [keepAtEnd, entries])
  // biome-ignore lint/correctness/useExhaustiveDependencies: check again after each page, because a page may be too short to scroll
  useEffect(loadIfNear, [loadIfNear, entries])
  const onScroll = useCallback(() => {
    onListScroll()
    loadIfNear()
  }, [onListScroll, loadIfNear])
  return (
    <div className="transcript-frame">
      <h2 className="visually-hidden">Transcript</h2>
      <p className="visually-hidden" role="status">
        {announced}
      </p>
      {children}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling element must be reachable by keyboard */}
      <div className="transcript" ref={scroller} role="log" aria-live="off" aria-label="Transcript" tabIndex={0}>
        <div className="transcript-top">
          <Beginning earlier={earlier} failed={failed} onRetry={() => loadIfNear(true)} empty={entries.length === 0} />
        </div>
        <MarkedContext value={marked}>
          <Virtualizer
            ref={list}
            data={entries}
            shift={shift}
            startMargin={topPx}
            bufferSize={600}
            onScroll={onScroll}
            onResize={keepAtEnd}
          >
            {(entry, i) => (
              <EntryRow key={entry.id} entry={entry} before={entries[i - 1]} startedAt={turnStart(entries, i)} />
            )}
          </Virtualizer>
        </MarkedContext>
      </div>
      {!atEnd && (
        <button type="button" className="scroll-to-end button" onClick={scrollToEnd}>
          <ArrowDownIcon /> {newCount > 0 ? formatCount(newCount, 'new', 'new') : transcriptTexts.toNewest}
        </button>
      )}
    </div>
  )
}

const noList = { findItemIndex: () => 0, scrollOffset: 0, viewportSize: 0 }

interface NavigationContext {
  readonly entries: TranscriptReading['entries']
  readonly list: RefObject<VirtualizerHandle | null>
  readonly leaveEnd: () => void
}

/** Offers to scroll to entries. Returns the id of the entry that is marked because the person went to it. */
function useNavigation(navigation: Ref<TranscriptNavigation>, context: NavigationContext): string | null {
  const { entries, list, leaveEnd } = context
  const expanded = use(ExpandedContext)
  const [marked, setMarked] = useState<string | null>(null)
  useImperativeHandle(navigation, () => {
    const show = (id: string, expand = false) => {
      const index = entries.findIndex(entry => entry.id === id)
      if (index < 0) return
      if (expand && entries[index]?.kind === 'tool') expanded.set(id, true)
      leaveEnd()
      setMarked(id)
      list.current?.scrollToIndex(index, { align: 'center' })
    }
    const showRequest = (direction: 1 | -1) => {
      const { findItemIndex, scrollOffset: top, viewportSize: height } = list.current ?? noList
      const known = entries.findIndex(entry => entry.id === marked)
      // After the person has scrolled away from the marked entry, the search starts at the middle of the screen.
      const isInView = known >= findItemIndex(top) && known <= findItemIndex(top + height)
      const from = isInView ? known : findItemIndex(top + height / 2)
      const isRequest = (entry: Entry | undefined) => entry?.kind === 'request'
      for (let i = from + direction; i >= 0 && i < entries.length; i += direction)
        if (isRequest(entries[i])) return show(entries[i]?.id ?? '')
    }
    return { show, showRequest }
  }, [entries, list, leaveEnd, expanded, marked])
  return marked
}

interface BeginningProps {
  readonly earlier: TranscriptReading['earlier']
  readonly failed: unknown
  readonly onRetry: () => void
  readonly empty: boolean
}

function Beginning({ earlier, failed, onRetry, empty }: BeginningProps): ReactNode {
  if (failed)
    return (
      <>
        Earlier messages couldn’t be loaded: {errorMessage(failed)}{' '}
        <button type="button" className="button plain" onClick={onRetry}>
          Try again
        </button>
      </>
    )
  if (earlier === 'none') return empty ? transcriptTexts.empty : transcriptTexts.begin
  return transcriptTexts.loadingEarlier
}

/** Returns the entries to render now. If entries were added at both ends, they appear in two renders (see `nextVisible`). */
function useVisibleEntries(all: TranscriptReading['entries']): VisibleEntries {
  const before = useRef<TranscriptReading['entries']>([])
  const [, showMore] = useReducer((count: number) => count + 1, 0)
  const shown = nextVisible(before.current, all)
  useLayoutEffect(() => {
    before.current = shown.entries
    if (shown.more) showMore()
  })
  return shown
}

/** Loads the previous page when the first entry is near the visible part. After a failure, waits until the person retries. */
function useEarlier(
  scroller: { readonly current: HTMLElement | null },
  earlier: TranscriptReading['earlier'],
  loadEarlier: TranscriptReading['loadEarlier'],
): { readonly failed: unknown; readonly loadIfNear: (retry?: boolean) => void } {
  const [failed, setFailed] = useState<unknown>(null)
  const loadIfNear = useCallback(
    (retry = false) => {
      const element = scroller.current
      if (!element || earlier !== 'some' || element.scrollTop > loadAheadPx || (failed !== null && !retry)) return
      setFailed(null)
      loadEarlier().catch((error: unknown) => setFailed(error ?? new Error('Loading failed.')))
    },
    [scroller, earlier, loadEarlier, failed],
  )
  return { failed, loadIfNear }
}

/** Returns the text that screen readers announce: the agent's latest finished message, if it arrived after the screen was opened. */
function useAnnounced(entries: TranscriptReading['entries']): string {
  const last = entries.findLast(entry => entry.kind === 'message' && entry.role === 'agent' && !entry.streaming)
  const [known] = useState(last?.id)
  if (last?.kind !== 'message' || last.id === known) return ''
  const { head, omitted, tail } = cutMiddle(last.text, spokenMax)
  // Screen readers pause at line breaks, and would read a sign for them aloud.
  const [start, end] = [head, tail].map(part => displayText(part, { multiline: true, keepEmoji: true }))
  return `The agent: ${start} ${omissionMarker(omitted)} ${end}`.trimEnd()
}

/** Counts the entries added since the person scrolled away from the end. */
function useNewCount(entries: TranscriptReading['entries'], atEnd: boolean): number {
  const lastSeen = useRef<string | null>(null)
  const last = entries.at(-1)?.id ?? null
  useEffect(() => {
    if (atEnd) lastSeen.current = last
  }, [atEnd, last])
  return atEnd ? 0 : unseenSince(entries, lastSeen.current)
}
