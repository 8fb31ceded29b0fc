/** Searches the loaded part of the transcript. Enter goes to the next match, Shift+Enter to the previous one. */
import { findEntries } from '@holdpoint/client'
import { limits } from '@holdpoint/protocol'
import ArrowDownIcon from 'lucide-react/icons/arrow-down'
import ArrowUpIcon from 'lucide-react/icons/arrow-up'
import { type KeyboardEvent, type ReactNode, useEffect, useMemo, useState } from 'react'
import { useDebounced } from '../../ui/use-debounced.ts'
import { useLoadMore } from './load-more.ts'
import { searchTexts } from './texts.ts'
import type { TranscriptReading } from './use-transcript.ts'
import './transcript-search.css'

export interface TranscriptSearchProps {
  readonly reading: TranscriptReading
  /** Scrolls to an entry and marks the text in it. */
  readonly onShow: (id: string, query: string) => void
  readonly onClose: () => void
}

const typingMs = 150

export function TranscriptSearch({ reading, onShow, onClose }: TranscriptSearchProps): ReactNode {
  const [typed, setTyped] = useState('')
  const query = useDebounced(typed.trim(), typingMs)
  const { coverage, isLoading, load } = useLoadMore(reading, true)
  const { count, position, step } = useMatches(reading, query, onShow)
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return
    if (event.key === 'Escape') onClose()
    else if (event.key === 'Enter') step(event.shiftKey ? 1 : -1)
    else return
    event.preventDefault()
  }
  return (
    <search className="transcript-search">
      <input
        type="search"
        className="input"
        aria-label={searchTexts.label}
        placeholder={searchTexts.label}
        maxLength={limits.titleMax}
        spellCheck={false}
        // biome-ignore lint/a11y/noAutofocus: the person asked for this field with a key or a button
        autoFocus
        value={typed}
        onChange={event => setTyped(event.target.value)}
        onKeyDown={onKeyDown}
      />
      <span className="small soft search-count" role="status">
        {query !== '' && (count === 0 ? searchTexts.none : searchTexts.position(position + 1, count))}
      </span>
      <StepButton label={searchTexts.earlier} Icon={ArrowUpIcon} disabled={count === 0} onClick={() => step(-1)} />
      <StepButton label={searchTexts.later} Icon={ArrowDownIcon} disabled={count === 0} onClick={() => step(1)} />
      <button type="button" className="button plain small" onClick={onClose}>
        {searchTexts.close}
      </button>
      <span className="small faint search-coverage">
        {isLoading ? searchTexts.loading : coverage}{' '}
        {load && (
          <button type="button" className="text-button" onClick={load}>
            {searchTexts.more}
          </button>
        )}
      </span>
    </search>
  )
}

/** The matches of a text, and which of them is shown. `step` shows the next or the previous one. */
function useMatches({ entries }: TranscriptReading, query: string, onShow: TranscriptSearchProps['onShow']) {
  const found = useMemo(() => findEntries(entries, query), [entries, query])
  const [current, setCurrent] = useState<string | null>(null)
  const position = current === null ? -1 : found.indexOf(current)
  const showAt = (index: number) => {
    const id = found.at(index)
    if (id === undefined) return
    setCurrent(id)
    onShow(id, query)
  }
  const hasMatches = found.length > 0
  // A search starts at the newest match, because people usually look at the end of the transcript. The newest match may be on a page that is loaded later.
  // biome-ignore lint/correctness/useExhaustiveDependencies: entries that arrive later must not move the view
  useEffect(() => {
    if (hasMatches) showAt(-1)
    else setCurrent(null)
  }, [query, hasMatches])
  const step = (by: 1 | -1) => showAt(position < 0 ? -1 : (position + by + found.length) % found.length)
  return { count: found.length, position, step }
}

interface StepButtonProps {
  readonly label: string
  readonly Icon: typeof ArrowUpIcon
  readonly disabled: boolean
  readonly onClick: () => void
}

function StepButton({ label, Icon, disabled, onClick }: StepButtonProps): ReactNode {
  return (
    <button type="button" className="button small" aria-label={label} title={label} {...{ disabled, onClick }}>
      <Icon />
    </button>
  )
}
