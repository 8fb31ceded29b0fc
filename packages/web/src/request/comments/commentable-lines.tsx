/** The lines of a change, a plan or a command, each with a button to comment on it. Clicking or tapping a line opens a field below it. The arrow keys move between lines. */
import { type DiffRow, diffLines, exactText, quotationOf } from '@holdpoint/client'
import { type ApprovalAsk, type Comment, commentPlace, limits } from '@holdpoint/protocol'
import PencilIcon from 'lucide-react/icons/pencil'
import PlusIcon from 'lucide-react/icons/plus'
import {
  type KeyboardEvent,
  memo,
  type ReactNode,
  type RefObject,
  use,
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react'
import { comparedRows, DiffCell, diffRowClass, rowLength } from '../../text/diff-view.tsx'
import { chunksOf, LazyChunks } from '../../text/lazy-chunks.tsx'
import { CodeWarnings } from '../../text/text-warnings.tsx'
import { showToast } from '../../ui/toast.tsx'
import { CommentBox } from './comment-box.tsx'
import { CommentingContext, type LineComments } from './line-comments.ts'
import { commentTexts } from './texts.ts'
import './commentable-lines.css'

/** The line that a comment belongs to. */
export type CommentPlace = Omit<Comment, 'quote' | 'text'>

export function CommentableText({
  text,
  isCommand,
}: {
  readonly text: string
  readonly isCommand: boolean
}): ReactNode {
  const rows = useMemo(() => diffLines([{ before: text, after: text }]).diffs[0] ?? [], [text])
  return (
    <>
      <Lines rows={rows} placeOf={placeInText} isOnly />
      <CodeWarnings text={text} kind={isCommand ? 'command' : 'code'} />
    </>
  )
}

function placeInText({ after }: DiffRow): CommentPlace {
  return { line: after ?? 1 }
}

export interface CommentableDiffProps {
  readonly rows: readonly DiffRow[]
  readonly path: string
  /** True if the request changes no other file. */
  readonly isOnly: boolean
  /** True if the new text is the whole file, so that its lines are those of the file. */
  readonly isWholeFile: boolean
  /** The number of the edit, counted from 1, if there are several. */
  readonly edit?: number | undefined
  /** Both texts, to find unusual characters in them. */
  readonly texts: string
}

export function CommentableDiff({ rows, path, isOnly, isWholeFile, edit, texts }: CommentableDiffProps): ReactNode {
  const placeOf = useCallback(
    (row: DiffRow): CommentPlace => ({
      path,
      ...(edit !== undefined && { edit }),
      line: row.after ?? row.before ?? 1,
      ...(!isWholeFile && { side: row.sign === '-' ? ('before' as const) : ('after' as const) }),
    }),
    [path, isWholeFile, edit],
  )
  return (
    <>
      <Lines
        rows={rows}
        placeOf={placeOf}
        isOnly={isOnly && edit === undefined}
        labelPath={isOnly ? undefined : path}
      />
      <CodeWarnings text={texts} />
    </>
  )
}

const chunkSize = { rowsMax: 60, charsMax: 8000 } as const

interface LinesProps {
  readonly rows: readonly DiffRow[]
  readonly placeOf: (row: DiffRow) => CommentPlace
  /** True if the card shows no other lines. */
  readonly isOnly: boolean
  /** The path that the labels of the buttons name, if the card shows several files. */
  readonly labelPath?: string | undefined
}

function Lines(props: LinesProps): ReactNode {
  const review = use(CommentingContext)?.lines
  return review && <ReviewedLines {...props} review={review} />
}

function ReviewedLines(props: LinesProps & { readonly review: LineComments }): ReactNode {
  const { rows, placeOf, isOnly, labelPath, review } = props
  const { ask, comments, readOnly, takesFocus } = review
  const chunks = useMemo(() => chunksOf(rows, rowLength, chunkSize), [rows])
  const partners = useMemo(() => comparedRows(rows), [rows])
  const [editing, setEditing] = useState(() => (isOnly && takesFocus ? keyOfOnlyLine(rows, placeOf) : null))
  const [tabStop, setTabStop] = useState<string | null>(null)
  const byPlace = useMemo(() => new Map(comments.map(comment => [keyOf(comment), comment])), [comments])
  const actions = useLineActions(review, setEditing, setTabStop)
  const first = rows[0] ? keyOf(placeOf(rows[0])) : null
  const box = useFocusOnFirstLine(takesFocus && editing === null)
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset would change the layout of the lines
    <div
      ref={box}
      role="group"
      aria-label={commentTexts.lines}
      className="diff agent-background unified commentable"
      onKeyDown={moveFocus}
    >
      <LazyChunks chunks={chunks} linesOf={chunk => chunk.length} textOf={() => ''}>
        {chunk =>
          chunk.map(row => {
            const comment = commentOn(row, placeOf(row), byPlace)
            const key = keyOf(comment ?? placeOf(row))
            return (
              <Line
                key={`${row.sign}${key}`}
                {...{ row, placeOf, labelPath, ask, readOnly, actions, comment }}
                beside={partners.get(row)}
                isEditing={editing === key}
                isTabStop={(tabStop ?? first) === key}
              />
            )
          })
        }
      </LazyChunks>
    </div>
  )
}

/** Returns the comment on a line. Another device may have compared the texts differently, so a comment on an old line can belong to an unchanged one. */
function commentOn(row: DiffRow, place: CommentPlace, byPlace: ReadonlyMap<string, Comment>): Comment | undefined {
  const found = byPlace.get(keyOf(place))
  if (found || row.sign !== ' ' || row.before === null) return found
  return byPlace.get(keyOf({ ...place, line: row.before, side: 'before' }))
}

/** Returns the key of a line that is the only one, so that there is nothing to choose. */
function keyOfOnlyLine(rows: readonly DiffRow[], placeOf: LinesProps['placeOf']): string | null {
  const [only, ...others] = rows
  return only && others.length === 0 ? keyOf(placeOf(only)) : null
}

/** Focuses the first line of the card once, when the lines appear. A change can have several groups of lines. */
function useFocusOnFirstLine(takesFocus: boolean): RefObject<HTMLDivElement | null> {
  const box = useRef<HTMLDivElement>(null)
  const isDone = useRef(false)
  useEffect(() => {
    if (takesFocus && !isDone.current)
      box.current?.closest('.card')?.querySelector<HTMLElement>('.comment-button')?.focus()
    isDone.current = true
  }, [takesFocus])
  return box
}

function keyOf({ path, edit, line, side }: CommentPlace): string {
  return JSON.stringify([path, edit, line, side])
}

interface LineActions {
  readonly open: (place: CommentPlace) => void
  readonly close: () => void
  readonly write: (place: CommentPlace, row: DiffRow, text: string) => void
  readonly focus: (place: CommentPlace) => void
}

/** Returns actions that stay the same, so that typing renders only the line that changes. */
function useLineActions(
  review: LineComments,
  setEditing: (key: string | null) => void,
  setTabStop: (key: string) => void,
): LineActions {
  const latest = useRef(review)
  useLayoutEffect(() => {
    latest.current = review
  })
  return useMemo(
    () => ({
      open: place => {
        const { readOnly, comments } = latest.current
        const isNew = !comments.some(comment => keyOf(comment) === keyOf(place))
        if (readOnly) return
        if (isNew && comments.length >= limits.commentsMax) showToast(commentTexts.tooMany)
        else setEditing(keyOf(place))
      },
      close: () => setEditing(null),
      write: (place, row, text) => {
        const { comments, change } = latest.current
        const others = comments.filter(comment => keyOf(comment) !== keyOf(place))
        change(text === '' ? others : [...others, { ...place, quote: quoteOf(row), text }].sort(byPosition))
      },
      focus: place => setTabStop(keyOf(place)),
    }),
    [setEditing, setTabStop],
  )
}

function byPosition(a: Comment, b: Comment): number {
  const [path, otherPath] = [a.path ?? '', b.path ?? '']
  if (path !== otherPath) return path < otherPath ? -1 : 1
  return (a.edit ?? 0) - (b.edit ?? 0) || (a.line ?? 0) - (b.line ?? 0)
}

/** A run of blank lines has only a marker of ours as its text. */
function quoteOf({ text, count }: DiffRow): string {
  return count > 1 ? '' : quotationOf(text)
}

interface LineProps {
  readonly row: DiffRow
  /** The row with which this row is compared. */
  readonly beside: DiffRow | undefined
  readonly placeOf: LinesProps['placeOf']
  readonly labelPath: string | undefined
  readonly ask: ApprovalAsk
  readonly comment: Comment | undefined
  readonly isEditing: boolean
  readonly isTabStop: boolean
  readonly readOnly: boolean
  readonly actions: LineActions
}

const Line = memo(function Line(props: LineProps): ReactNode {
  const { row, beside, placeOf, labelPath, ask, comment, isEditing, isTabStop, readOnly, actions } = props
  const button = useRef<HTMLButtonElement>(null)
  const place = comment ? withoutText(comment) : placeOf(row)
  // The path is shown above the lines. A label that is read alone needs it only if there are several.
  const position = commentPlace(ask, { ...place, path: undefined })
  const label = commentTexts.add(position, labelPath === undefined ? null : exactText(labelPath))
  const close = () => {
    actions.close()
    button.current?.focus()
  }
  return (
    <>
      {/* biome-ignore lint/a11y/noStaticElementInteractions lint/a11y/useKeyWithClickEvents: the button at the end of the line does the same by keyboard */}
      <div
        className={`diff-row ${diffRowClass(row)} ${comment ? 'commented' : ''}`}
        onClick={() => isNothingSelected() && actions.open(place)}
      >
        <DiffCell row={row} lineNumber={row.after ?? row.before} beside={beside} />
        <button
          ref={button}
          type="button"
          className="comment-button"
          aria-label={label}
          aria-expanded={isEditing}
          tabIndex={isTabStop ? 0 : -1}
          disabled={readOnly}
          onFocus={() => actions.focus(place)}
          onClick={event => {
            event.stopPropagation()
            actions.open(place)
          }}
        >
          {comment ? <PencilIcon /> : <PlusIcon />}
        </button>
      </div>
      {(isEditing || comment) && (
        <CommentBox
          {...{ label, isEditing, readOnly, close }}
          text={comment?.text ?? ''}
          onOpen={() => actions.open(place)}
          onText={text => actions.write(place, row, text)}
        />
      )}
    </>
  )
})

function withoutText({ quote: _, text: _text, ...place }: Comment): CommentPlace {
  return place
}

/** A person who selects text to copy it does not want to comment. */
function isNothingSelected(): boolean {
  return getSelection()?.isCollapsed ?? true
}

const steps: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1 }

/** Moves the focus to the button of another line. */
function moveFocus(event: KeyboardEvent<HTMLElement>): void {
  const { target, currentTarget, key } = event
  if (!(target instanceof HTMLElement) || !target.matches('.comment-button')) return
  const buttons = [...currentTarget.querySelectorAll<HTMLElement>('.comment-button')]
  const step = steps[key]
  const next =
    key === 'Home' ? buttons[0] : key === 'End' ? buttons.at(-1) : step && buttons[buttons.indexOf(target) + step]
  if (!next) return
  event.preventDefault()
  next.focus()
}
