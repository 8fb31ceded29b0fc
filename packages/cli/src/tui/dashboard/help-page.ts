/** What `holdpoint tui` only tells: the help, a session before it is opened, the line that is written to one. */
import type { InboxSnapshot } from '@holdpoint/client'
import type { Session } from '@holdpoint/protocol'
import { sessionRows } from '../../output/session.ts'
import { blankRow, type Row, row, trusted, untrustedLine } from '../../output/span.ts'
import { cutSpans, type StyledLine, wrap } from '../../output/width.ts'
import type { KeyHint } from '../prompt/layout/prompt-sections.ts'
import { letterOf } from '../prompt/prompt-step.ts'
import type { TextInput } from '../prompt/text-input.ts'
import { textInputRows } from '../prompt/text-input-view.ts'
import type { Key } from '../terminal/key-parser.ts'

const help: readonly (readonly [string, string] | null)[] = [
  ['↑ ↓ j k', 'move in the list'],
  ['Enter →', 'open what is selected'],
  ['Esc ←', 'back to the list'],
  ['Tab', 'the next request that waits'],
  ['n', 'start a session'],
  ['q', 'leave; what waits goes on waiting'],
  null,
  ['a 1 / r 2', 'allow, or reject: what is asked stands above, whole'],
  ['e  n  s', 'edit it in your editor; add a note; allow it for longer'],
  ['R  x', 'reject with a reason; reject and stop the turn'],
  ['1–9 ↑↓ space', 'choose; mark where several may be chosen'],
  ['Enter  o', 'confirm; type another answer'],
  ['space PgDn', 'the next page: what was not shown cannot be allowed'],
  ['Ctrl+C', 'reject what is asked; twice: leave'],
  ['Ctrl+L Ctrl+Z', 'draw all of it again; to the shell, and back with fg'],
  null,
  ['Enter  i', 'write to an open session'],
  ['I I  E E', 'interrupt its turn; end it'],
]
const nameWidth = 15

/** What can be done, by where the keys go. */
export const keyHints = {
  help: [['any key', 'goes back']],
  helpMore: [
    ['space', 'shows more'],
    ['any other key', 'goes back'],
  ],
  starter: [],
  composer: [
    ['Enter', 'sends it'],
    ['/edit', 'opens your editor'],
    ['Esc', 'goes back'],
  ],
  prompt: [
    ['Tab', 'next that waits'],
    ['Esc', 'back to the list'],
  ],
  session: [
    ['Enter', 'write'],
    ['Esc', 'back to the list'],
    ['↑↓', 'scroll'],
    ['I', 'interrupt'],
    ['E', 'end'],
    ['?', 'help'],
  ],
  list: [
    ['↑↓', 'move'],
    ['Enter', 'open'],
    ['n', 'new session'],
    ['?', 'help'],
    ['q', 'leave'],
  ],
} as const satisfies Readonly<Record<string, readonly KeyHint[]>>

const helpRows: readonly Row[] = [
  row(trusted('Keys', 'strong')),
  blankRow,
  ...help.map(line => (line ? row(trusted(line[0].padEnd(nameWidth)), trusted(line[1], 'quiet')) : blankRow)),
]

export class HelpPage {
  #top = 0
  #page = 0
  #lines = 0

  get hasMore(): boolean {
    return this.#top + this.#page < this.#lines
  }
  pieces(columns: number, height: number): readonly StyledLine[] {
    const all = helpRows.flatMap(one => wrap(one, columns))
    this.#lines = all.length
    this.#page = height
    return all.slice(this.#top, this.#top + height)
  }
  /** Whether it stays: a key that shows more does so while there is more, any other leaves. */
  press(key: Key): boolean {
    const goesOn = key.name === 'down' || key.name === 'pagedown' || letterOf(key) === ' '
    if (!goesOn || !this.hasMore) return false
    this.#top += key.name === 'down' ? 1 : this.#page
    return true
  }
}

export function previewRows(session: Session | null, { complete, status }: InboxSnapshot, now: number): readonly Row[] {
  if (session) return [...sessionRows(session, now), blankRow, row(trusted('Enter opens it.', 'quiet'))]
  if (status === 'connecting' || !complete) return [row(trusted('Looking …', 'quiet'))]
  return [
    row(trusted('Nothing waits for you, and no agent is at work.')),
    blankRow,
    row(trusted('n starts a session.', 'quiet')),
  ]
}

/** The line for a session while it is written, and how to go on with it while it is not. */
export function sayRows(line: TextInput, writes: boolean, columns: number): readonly Row[] {
  if (writes) return [blankRow, ...textInputRows({ label: 'Say', line }, columns)]
  return line.text === ''
    ? []
    : [row(...cutSpans([trusted('Enter goes on with: ', 'quiet'), untrustedLine(line.text)], columns))]
}
