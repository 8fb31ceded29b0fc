/** The overview of a session: facts, to-do list, changed files with their diffs, and an outline of the turns. */
import {
  answerLabel,
  type ChangedFile,
  driverLabel,
  type OutlineTurn,
  sessionOverview,
  singleLineCut,
} from '@holdpoint/client'
import type { Session } from '@holdpoint/protocol'
import { type ReactNode, useMemo } from 'react'
import { useGatewayTime } from '../../gateway/gateway-context.ts'
import { useDriver } from '../../gateway/use-driver.ts'
import { InlineAgentText, SummaryText } from '../../text/agent-text.tsx'
import { formatCost, formatDuration } from '../../text/format-amounts.ts'
import { clockTime, dateTime } from '../../text/format-time.ts'
import { Path } from '../../text/path.tsx'
import { turnEndings } from '../../text/texts.ts'
import { DisclosureIcon } from '../../ui/disclosure-icon.tsx'
import { useExpanded } from './expanded-entries.ts'
import { useLoadMore } from './load-more.ts'
import { ProcessFact, RepositoryFact } from './session-header.tsx'
import { SessionSettings } from './session-settings.tsx'
import { RequestSummary } from './status-lines.tsx'
import { outlineTexts, overviewTexts as texts, transcriptTexts } from './texts.ts'
import { TodoList } from './todo-list.tsx'
import { FileChanges } from './tool-detail.tsx'
import type { TranscriptReading } from './use-transcript.ts'
import { SessionWatchers } from './variables.tsx'
import './session-overview.css'

export interface OverviewProps {
  readonly session: Session
  readonly reading: TranscriptReading
  /** True on a narrow screen, where the header has no space for the settings. */
  readonly hasSettings: boolean
  /** Scrolls to an entry of the transcript. */
  readonly onShow: (id: string) => void
}

export function Overview({ session, reading, hasSettings, onShow }: OverviewProps): ReactNode {
  const { entries } = reading
  const { files, added, removed, todo, turns } = useMemo(() => sessionOverview(entries), [entries])
  const { coverage, isLoading, load } = useLoadMore(reading, true)
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard
    <section className="panel-content overview" aria-label={texts.label} tabIndex={0}>
      {hasSettings && (
        <div className="overview-settings">
          <SessionSettings session={session} />
        </div>
      )}
      <Facts session={session} isWhole={hasSettings} />
      <SessionWatchers session={session} />
      {todo && (
        <>
          <h2 className="section-heading">
            {texts.todo(todo.filter(({ state }) => state === 'done').length, todo.length)}
          </h2>
          <TodoList items={todo} />
        </>
      )}
      <h2 className="section-heading">
        {texts.files(files.length)} <LineCounts added={added} removed={removed} />
      </h2>
      {files.length === 0 ? (
        <p className="small soft">{texts.noFiles}</p>
      ) : (
        <ul className="changed-files">
          {files.map(file => (
            <ChangedFileRow key={file.path} file={file} folder={session.cwd} onShow={onShow} />
          ))}
        </ul>
      )}
      <p className="small faint">{texts.filesNote}</p>
      <h2 className="section-heading">{texts.outline}</h2>
      <ol className="outline" aria-label={texts.outline}>
        {turns.map(turn => (
          <OutlineRow key={turn.start.id} turn={turn} onShow={onShow} />
        ))}
      </ol>
      <p className="small faint" role="status">
        {isLoading ? texts.loading : coverage}{' '}
        {load && (
          <button type="button" className="text-button" onClick={load}>
            {texts.more}
          </button>
        )}
      </p>
    </section>
  )
}

interface FactsProps {
  readonly session: Session
  /** True if the facts include those that the header has on a wide screen. */
  readonly isWhole: boolean
}

function Facts({ session, isWhole }: FactsProps): ReactNode {
  const now = useGatewayTime(10_000)
  const driver = useDriver(session.driver)
  const { startedAt, endedAt, cost } = session
  return (
    <dl className="overview-facts">
      <dt>{texts.started}</dt>
      <dd>
        <time dateTime={new Date(startedAt).toISOString()}>{dateTime(startedAt)}</time>
      </dd>
      <dt>{endedAt === null ? texts.openFor : texts.lasted}</dt>
      <dd>{formatDuration((endedAt ?? now) - startedAt)}</dd>
      <dt>{texts.cost}</dt>
      <dd>{cost === null ? texts.unknownCost : formatCost(cost)}</dd>
      {isWhole && (
        <>
          <dt>{texts.agent}</dt>
          <dd>
            <InlineAgentText text={driverLabel(session.driver, driver?.title)} />
          </dd>
          {session.repository && (
            <>
              <dt>{texts.repository}</dt>
              <dd>
                <RepositoryFact repository={session.repository} />
              </dd>
            </>
          )}
          {session.process && (
            <>
              <dt>{texts.process}</dt>
              <dd>
                <ProcessFact session={session} />
              </dd>
            </>
          )}
        </>
      )}
    </dl>
  )
}

function LineCounts({ added, removed }: { readonly added: number; readonly removed: number }): ReactNode {
  if (added + removed === 0) return null
  return (
    <span className="line-counts">
      <span className="lines-added">+{added.toLocaleString('en')}</span>{' '}
      <span className="lines-removed">−{removed.toLocaleString('en')}</span>
      <span className="visually-hidden">{texts.lines(added, removed)}</span>
    </span>
  )
}

interface ChangedFileRowProps {
  readonly file: ChangedFile
  /** The folder of the session. The paths of files in it are shown without it. */
  readonly folder: string
  readonly onShow: (id: string) => void
}

function ChangedFileRow({ file, folder, onShow }: ChangedFileRowProps): ReactNode {
  const [open, toggle] = useExpanded(`file:${file.path}`)
  const { path, added, removed, changes } = file
  return (
    <li>
      <button type="button" className="changed-file" aria-expanded={open} onClick={toggle}>
        <DisclosureIcon />
        <Path path={path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : path} className="mono" />
        <LineCounts added={added} removed={removed} />
      </button>
      {open &&
        changes.map(({ entry, file: change }) => (
          <div key={entry.id} className="changed-file-edits">
            <p className="tool-label">
              {clockTime(entry.at)}{' '}
              <button type="button" className="text-button" onClick={() => onShow(entry.id)}>
                {texts.inTranscript}
              </button>
            </p>
            <FileChanges name={`file:${entry.id}`} file={change} />
          </div>
        ))}
    </li>
  )
}

const summaryMax = 120

function OutlineRow({
  turn,
  onShow,
}: {
  readonly turn: OutlineTurn
  readonly onShow: (id: string) => void
}): ReactNode {
  const { start, startedAt, end, tools, requests, errors } = turn
  const text = start.kind === 'message' ? start.text : ''
  const facts = [
    end ? turnEndings[end.ending] : outlineTexts.running,
    end && startedAt !== null && formatDuration(end.at - startedAt),
    end?.cost !== undefined && formatCost(end.cost),
    tools > 0 && outlineTexts.tools(tools),
    errors > 0 && outlineTexts.errors(errors),
  ]
  return (
    <li>
      <button type="button" className="outline-turn" onClick={() => onShow(start.id)}>
        {startedAt !== null && <time dateTime={new Date(startedAt).toISOString()}>{clockTime(startedAt)}</time>}
        {text === '' ? (
          <span className="soft">{outlineTexts.noMessage}</span>
        ) : (
          <SummaryText summary={{ ...singleLineCut(text, summaryMax), isCode: false }} className="outline-text" />
        )}
        <span className="outline-facts">{facts.filter(Boolean).join(' · ')}</span>
      </button>
      {requests.map(({ id, request }) => (
        <button key={id} type="button" className="outline-request" onClick={() => onShow(id)}>
          <RequestSummary ask={request.ask} className="outline-text" />
          <span className="outline-state">
            {request.resolution ? answerLabel(request.resolution) : transcriptTexts.waitingHere}
          </span>
        </button>
      ))}
    </li>
  )
}
