/** The rows of the inbox, with a head for each group, and the requests of muted sessions at the end. */
import { labelText, sessionName } from '@holdpoint/client'
import type { Request, RequestId, SessionId } from '@holdpoint/protocol'
import { type ReactNode, useMemo } from 'react'
import { useInboxPart } from '../../gateway/gateway-context.ts'
import { setMuted } from '../../storage/muted-sessions.ts'
import { InlineAgentText } from '../../text/agent-text.tsx'
import { Path } from '../../text/path.tsx'
import { DisclosureIcon } from '../../ui/disclosure-icon.tsx'
import { RequestRow } from './request-row.tsx'
import { batchProblem } from './selection.ts'
import { groupHeadTexts, listTexts } from './texts.ts'
import type { InboxView } from './use-inbox-view.ts'
import type { OpenRequest } from './use-open-request.ts'
import type { RequestList } from './use-request-list.ts'
import type { Selection } from './use-selection.ts'
import type { Visibility } from './use-visibility.ts'
import './request-items.css'

/** This many rows at the start of the list are always rendered in full. The others follow when they come near the screen. */
const renderedFirst = 24

export interface RequestItemsProps {
  readonly view: InboxView
  readonly list: RequestList
  readonly selection: Selection
  readonly opened: OpenRequest
  readonly visibility: Visibility
  /** Selects all requests of a session. */
  readonly onReviewSession: (session: SessionId) => void
}

export function RequestItems(props: RequestItemsProps): ReactNode {
  const { view, list, onReviewSession } = props
  const { grouping } = view
  const heads = useMemo(() => groupHeads(list.ids, view.groupOf), [list.ids, view.groupOf])
  return (
    <>
      <h2 className="visually-hidden">{listTexts.heading}</h2>
      <ol className="requests" aria-label={listTexts.label} onPointerMove={list.noteActivity}>
        {list.ids.map((id, index) => {
          const request = list.requests.get(id)
          const head = heads.get(id)
          if (!request) return null
          return [
            head && grouping === 'session' && (
              <SessionHead
                key={`head ${id}`}
                {...{ request, onReviewSession }}
                count={head.count}
                canReview={canReviewFrom(index, head.count, list)}
              />
            ),
            head && grouping === 'project' && <ProjectHead key={`head ${id}`} folder={head.key} count={head.count} />,
            <Row key={id} {...props} request={request} isFirst={index < renderedFirst} />,
          ]
        })}
      </ol>
    </>
  )
}

export interface MutedItemsProps extends RequestItemsProps {
  readonly isOpen: boolean
  readonly onToggle: () => void
}

/** The requests of muted sessions, which the person can open. */
export function MutedItems({ isOpen, onToggle, ...props }: MutedItemsProps): ReactNode {
  const { view, list } = props
  if (view.muted.length === 0) return null
  return (
    <section className="muted-requests">
      <h2>
        <button type="button" className="muted-toggle" aria-expanded={isOpen} onClick={onToggle}>
          <DisclosureIcon /> {groupHeadTexts.muted(view.muted.length)}
        </button>
      </h2>
      {isOpen && (
        <ol className="requests">
          {view.muted.map(id => {
            const request = list.requests.get(id)
            return request && <Row key={id} {...props} request={request} isFirst isMuted />
          })}
        </ol>
      )}
    </section>
  )
}

interface RowProps extends RequestItemsProps {
  readonly request: Request
  readonly isFirst: boolean
  /** Requests of muted sessions are not grouped. */
  readonly isMuted?: boolean
}

function Row({ request, isFirst, isMuted = false, view, list, selection, opened, visibility }: RowProps): ReactNode {
  const { id } = request
  const { active, shown, activate, open } = opened
  return (
    <RequestRow
      request={request}
      near={isFirst || visibility.near.has(id) || id === active}
      active={id === active}
      shown={id === shown}
      isTabStop={id === (active ?? shown ?? list.ids[0])}
      selected={selection.selected.has(id)}
      leaving={list.leaving.has(id)}
      grouping={isMuted ? 'none' : view.grouping}
      onSelect={batchProblem(request) === null ? selection.select : undefined}
      onActivate={activate}
      onOpen={open}
      watch={visibility.watch}
    />
  )
}

/** Returns whether a group has several requests, of which at least one can be part of a batch. */
function canReviewFrom(first: number, count: number, { ids, requests }: RequestList): boolean {
  const group = ids.slice(first, first + count).flatMap(id => requests.get(id) ?? [])
  return count > 1 && group.some(request => batchProblem(request) === null)
}

interface GroupHead {
  readonly key: string
  readonly count: number
}

/** Returns the head of each group, by the first request of the group. */
function groupHeads(
  ids: readonly RequestId[],
  groupOf: ((id: RequestId) => string) | undefined,
): ReadonlyMap<RequestId, GroupHead> {
  const heads = new Map<RequestId, GroupHead>()
  if (!groupOf) return heads
  const keys = ids.map(groupOf)
  for (let from = 0; from < ids.length; ) {
    const [id, key] = [ids[from], keys[from]]
    if (id === undefined || key === undefined) break
    const end = keys.findIndex((each, index) => index > from && each !== key)
    const count = (end < 0 ? ids.length : end) - from
    heads.set(id, { key, count })
    from += count
  }
  return heads
}

function ProjectHead({ folder, count }: { readonly folder: string; readonly count: number }): ReactNode {
  return (
    <li className="group-head">
      <h3>{folder ? <Path path={folder} className="mono" /> : groupHeadTexts.unknownFolder}</h3>
      <span className="group-count">{count}</span>
    </li>
  )
}

interface SessionHeadProps {
  readonly request: Request
  readonly count: number
  readonly canReview: boolean
  readonly onReviewSession: (session: SessionId) => void
}

function SessionHead({ request: { session: id }, count, canReview, onReviewSession }: SessionHeadProps): ReactNode {
  const session = useInboxPart(({ sessions }) => sessions.get(id))
  const name = session ? sessionName(session) : id
  return (
    <li className="group-head">
      <h3>
        <InlineAgentText text={name} oneLine />
      </h3>
      {session?.cwd && <Path path={session.cwd} className="head-folder mono" />}
      <span className="group-count">{count}</span>
      {canReview && (
        <button
          type="button"
          className="text-button"
          title={groupHeadTexts.answerAllOf(labelText(name))}
          onClick={() => onReviewSession(id)}
        >
          {groupHeadTexts.answerAll(count)}
        </button>
      )}
      <button
        type="button"
        className="text-button"
        aria-label={groupHeadTexts.muteSession(labelText(name))}
        onClick={() => setMuted(id, true)}
      >
        {groupHeadTexts.mute}
      </button>
    </li>
  )
}
