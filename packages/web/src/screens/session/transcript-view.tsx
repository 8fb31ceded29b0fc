/** The transcript: the newest line first, earlier ones as one scrolls up, and only what is on screen in the page. */
import { escapeInvisible } from '@holdpoint/protocol'
import { type ReactNode, useCallback, useEffect, useLayoutEffect, useReducer, useRef, useState } from 'react'
import { Virtualizer } from 'virtua'
import { errorMessage } from '../../gateway/error-message.ts'
import { formatCount } from '../../text/format-amounts.ts'
import { Skeleton } from '../../ui/skeleton.tsx'
import { EntryRow } from './entry-row.tsx'
import { ExpandedContext } from './expanded-entries.ts'
import { useStickToEnd } from './use-stick-to-end.ts'
import type { Reading } from './use-transcript.ts'
import { showNext, unseenSince, type VisibleEntries } from './visible-entries.ts'
import './transcript-view.css'

/** Earlier pages are fetched before one comes to the first line. */
const aheadPx = 2000
/** The line above the first entry, as high as the style makes it. */
const topPx = 48
/** As much as is worth hearing unasked. */
const spokenMax = 300

export function TranscriptView({ reading }: { readonly reading: Reading }): ReactNode {
  const [opened] = useState(() => new Set<string>())
  if (!reading.loaded)
    return (
      <div className="transcript">
        <div className="transcript-empty">{reading.problem ? <Unread {...reading} /> : <Skeleton kind="row" />}</div>
      </div>
    )
  return (
    <ExpandedContext value={opened}>
      <Lines {...reading} />
    </ExpandedContext>
  )
}

function Unread({ problem, again }: Reading): ReactNode {
  return (
    <div role="alert">
      <p>The transcript cannot be read: {errorMessage(problem)}</p>
      <button type="button" className="button" onClick={again}>
        Try again
      </button>
    </div>
  )
}

function Lines({ entries: all, earlier, loadEarlier }: Reading): ReactNode {
  const scroller = useRef<HTMLDivElement>(null)
  const { atEnd, pin, follow, toEnd } = useStickToEnd(scroller)
  const { entries, shift } = useShown(all)
  const { failed, reach } = useEarlier(scroller, earlier, loadEarlier)
  const fresh = useFresh(all, atEnd)
  const spoken = useSpoken(all)
  // biome-ignore lint/correctness/useExhaustiveDependencies: whenever there is something else to show
  useLayoutEffect(pin, [pin, entries])
  // biome-ignore lint/correctness/useExhaustiveDependencies: a page may be too short to be scrolled
  useEffect(reach, [reach, entries])
  const onScroll = useCallback(() => {
    follow()
    reach()
  }, [follow, reach])
  return (
    <div className="transcript-frame">
      <h2 className="visually-hidden">Transcript</h2>
      <p className="visually-hidden" role="status">
        {spoken}
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <div className="transcript" ref={scroller} role="log" aria-live="off" aria-label="Transcript" tabIndex={0}>
        <div className="transcript-top">
          <Beginning earlier={earlier} failed={failed} again={() => reach(true)} empty={entries.length === 0} />
        </div>
        <Virtualizer
          data={entries}
          shift={shift}
          startMargin={topPx}
          bufferSize={600}
          onScroll={onScroll}
          onResize={pin}
        >
          {(entry, i) => <EntryRow key={entry.id} entry={entry} before={entries[i - 1]} />}
        </Virtualizer>
      </div>
      {!atEnd && (
        <button type="button" className="scroll-to-end button" onClick={toEnd}>
          {fresh > 0 ? `↓ ${formatCount(fresh, 'new', 'new')}` : '↓ To the newest'}
        </button>
      )}
    </div>
  )
}

interface BeginningProps {
  readonly earlier: Reading['earlier']
  readonly failed: unknown
  readonly again: () => void
  readonly empty: boolean
}

function Beginning({ earlier, failed, again, empty }: BeginningProps): ReactNode {
  if (failed)
    return (
      <>
        Earlier lines cannot be read: {errorMessage(failed)}{' '}
        <button type="button" className="button plain" onClick={again}>
          Try again
        </button>
      </>
    )
  if (earlier === 'none') return empty ? 'Nothing has been said yet.' : 'The session begins here.'
  return 'Earlier lines are being read…'
}

/** Entries in front and entries behind are shown one after the other: see `showNext`. */
function useShown(all: Reading['entries']): VisibleEntries {
  const before = useRef<Reading['entries']>([])
  const [, showMore] = useReducer((count: number) => count + 1, 0)
  const shown = showNext(before.current, all)
  useLayoutEffect(() => {
    before.current = shown.entries
    if (shown.more) showMore()
  })
  return shown
}

/** Fetches the page before, when one comes near the first line. After a failure only when it is asked for. */
function useEarlier(
  scroller: { readonly current: HTMLElement | null },
  earlier: Reading['earlier'],
  loadEarlier: Reading['loadEarlier'],
): { readonly failed: unknown; readonly reach: (again?: boolean) => void } {
  const [failed, setFailed] = useState<unknown>(null)
  const reach = useCallback(
    (again = false) => {
      const box = scroller.current
      if (!box || earlier !== 'some' || box.scrollTop > aheadPx || (failed !== null && !again)) return
      setFailed(null)
      loadEarlier().catch((error: unknown) => setFailed(error ?? new Error('It failed.')))
    },
    [scroller, earlier, loadEarlier, failed],
  )
  return { failed, reach }
}

/** For those who do not see it: what the agent has said since one came, once it is finished. */
function useSpoken(entries: Reading['entries']): string {
  const last = entries.findLast(entry => entry.kind === 'message' && entry.role === 'agent' && !entry.streaming)
  const [known] = useState(last?.id)
  return last?.kind === 'message' && last.id !== known
    ? `The agent says: ${escapeInvisible(last.text.slice(0, spokenMax))}`
    : ''
}

/** How many entries have come since one scrolled away from the end. */
function useFresh(entries: Reading['entries'], atEnd: boolean): number {
  const lastSeen = useRef<string | null>(null)
  const last = entries.at(-1)?.id ?? null
  useEffect(() => {
    if (atEnd) lastSeen.current = last
  }, [atEnd, last])
  return atEnd ? 0 : unseenSince(entries, lastSeen.current)
}
