/** Prints a session in full: its state, its pending requests, the files that its agent changed, and the agent's to-do list. */
import {
  actionLabel,
  type ChangedFile,
  type SessionOverview,
  sessionOverview,
  summaryText,
  Transcript,
} from '@holdpoint/client'
import type { Call, Request, Session } from '@holdpoint/protocol'
import { out } from '../output/output.ts'
import { sessionRows } from '../output/session.ts'
import { gutterOf, indented, labelled, type Row, row, trusted, untrustedCode } from '../output/span.ts'
import { todoRows } from '../output/todo.ts'
import { pendingRequests } from './queries.ts'
import { showTexts as texts } from './texts.ts'
import { loadEntries } from './transcript-entries.ts'

export async function showSession(call: Call, session: Session, json: boolean | undefined): Promise<void> {
  if (json) return out.json(session)
  const [{ now }, pending, work] = await Promise.all([
    call('whoAmI', {}),
    pendingRequests(call, session.id),
    workOf(call, session),
  ])
  out.print(...sessionRows(session, now), ...pending.map(pendingRow), ...workRows(work))
}

function pendingRow({ id, ask }: Request, index: number): Row {
  return labelled(
    index === 0 ? texts.pending : '',
    trusted(`${id}  `, 'waiting'),
    trusted(`${actionLabel(ask)}: ${summaryText(ask)}`),
  )
}

/** A longer transcript takes long to read. Its older entries are left out. */
const entriesMax = 2000

interface SessionWork extends SessionOverview {
  /** Whether the transcript has older entries than those that were read. */
  readonly isPartial: boolean
}

async function workOf(call: Call, { id }: Session): Promise<SessionWork> {
  const transcript = new Transcript({ call, session: id, frames: () => () => {} })
  try {
    await loadEntries(transcript, entriesMax)
    const { entries, earlier } = transcript.getSnapshot()
    return { ...sessionOverview(entries), isPartial: earlier !== 'none' }
  } finally {
    transcript.close()
  }
}

const filesMax = 30

function workRows({ files, added, removed, todo, isPartial }: SessionWork): readonly Row[] {
  const done = todo?.filter(({ state }) => state === 'done').length ?? 0
  return [
    ...(files.length === 0
      ? []
      : [
          labelled(texts.changed, trusted(`${texts.files(files.length)}  `), ...countSpans({ added, removed })),
          ...files.slice(0, filesMax).map(fileRow),
          ...(files.length > filesMax ? [indented(trusted(texts.moreFiles(files.length - filesMax), 'quiet'))] : []),
        ]),
    ...(todo === null ? [] : [labelled(texts.todo, trusted(texts.done(done, todo.length))), ...todoRows(todo)]),
    ...(isPartial ? [row(trusted(texts.partial(entriesMax), 'quiet'))] : []),
  ]
}

function fileRow(file: ChangedFile): Row {
  return { gutter: gutterOf('  '), spans: [untrustedCode(file.path), trusted('  '), ...countSpans(file)] }
}
function countSpans({ added, removed }: Pick<ChangedFile, 'added' | 'removed'>) {
  return [trusted(`+${added}`, 'yes'), trusted(' '), trusted(`-${removed}`, 'no')]
}
