/** A terminal with `holdpoint run` that several tests share. Each test opens a new request in the same session. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ApprovalAsk, Ask, Request, Session } from '@holdpoint/protocol'
import { afterAll, beforeAll } from 'vitest'
import { closeGateways } from '../../../../test/support/gateway.ts'
import { SessionFixture } from './session-fixture.ts'
import { closeTerminals, reopenAfterFailure, scriptedEditor, type Terminal } from './terminal.ts'

export class SharedRun {
  readonly session: Session
  readonly terminal: Terminal
  readonly #fixture: SessionFixture
  readonly #editorLog: string

  private constructor(fixture: SessionFixture, session: Session) {
    this.#fixture = fixture
    this.session = session
    this.#editorLog = join(fixture.gateway.folder, `editor-input-${session.id}`)
    const env = {
      EDITOR: `${process.execPath} ${scriptedEditor}`,
      EDITOR_SAW: this.#editorLog,
      EDITOR_TEXT: 'npm run edited',
    }
    this.terminal = fixture.openRun(session, { env })
  }
  static async open(fixture: SessionFixture): Promise<SharedRun> {
    const session = await fixture.startSession()
    await fixture.sayAsAgent(session, 'Let me see.')
    const run = new SharedRun(fixture, session)
    await run.terminal.waitFor('Let me see.')
    return run
  }

  async askAndWaitFor(ask: Ask, text: string | RegExp): Promise<Request> {
    // The previous request may still be on the screen.
    await this.terminal.waitUntil(() => !/^● /m.test(this.terminal.text()), 'the end of the previous request')
    const request = await this.#fixture.ask(this.session, ask)
    await this.terminal.waitFor(text)
    return request
  }
  /** Returns the texts with which the editor was opened, one JSON string per line. */
  editorInput(): string {
    return readFileSync(this.#editorLog, 'utf8')
  }
}

/** Opens a gateway for the tests of a file, and a terminal that they share. After a failed test, `onOpen` is called again with a new terminal. */
export function shareRun(
  onOpen: (opened: { readonly fixture: SessionFixture; readonly run: SharedRun }) => void,
): void {
  let fixture: SessionFixture
  beforeAll(async () => {
    fixture = await SessionFixture.open()
  })
  reopenAfterFailure(async () => onOpen({ fixture, run: await SharedRun.open(fixture) }))
  afterAll(async () => {
    closeTerminals()
    await closeGateways()
  })
}

let count = 0
/** Returns an approval whose command no other test uses. */
export function approvalOf(more: Partial<ApprovalAsk> = {}): ApprovalAsk {
  return {
    kind: 'approval',
    tool: 'Bash',
    input: { command: `npm run job${++count}` },
    title: 'Run a job',
    cwd: '/srv/app',
    editable: true,
    ...more,
  }
}
