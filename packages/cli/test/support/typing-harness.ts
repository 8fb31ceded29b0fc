/** A live view with a fake clock and a fake gateway: real keys, real prompts, the real inbox. Records everything that the view sends to the gateway. */
import { Inbox, Transcript } from '@holdpoint/client'
import type { Ask, Call, Event, Frame, Request, Session, SessionId } from '@holdpoint/protocol'
import { vi } from 'vitest'
import { sessionSample } from '../../../../test/support/session-sample.ts'
import { DashboardModel } from '../../src/tui/dashboard/dashboard-model.ts'
import { dashboardFrame } from '../../src/tui/dashboard/dashboard-view.ts'
import { RunModel } from '../../src/tui/run/run-model.ts'
import { KeyParser } from '../../src/tui/terminal/key-parser.ts'
import { pendingRequest } from './request.ts'

export type View = 'run' | 'tui list' | 'tui session' | 'tui message'

const id = 'ses_x' as SessionId // an invalid id, but no gateway reads it
const size = { columns: 80, height: 23 }
/** The inbox handles a frame within this many microtasks. */
const microtasks = 6

export class TypingHarness {
  /** The operations that decide something, with their input. */
  readonly sent: { readonly op: string; readonly input: unknown }[] = []
  /** How often the view opened the person's editor. */
  editorCount = 0
  isLeft = false
  readonly #frames = new FrameQueue()
  readonly #parser = new KeyParser()
  readonly #inbox: Inbox
  readonly #view: RunModel | DashboardModel
  #requestCount = 0
  #flushTimer: NodeJS.Timeout | undefined

  private constructor(view: View) {
    const call = ((op: string, input: unknown) => this.#reply(op, input)) as Call // `#reply` answers all operations that the views call
    this.#inbox = new Inbox({ call, watch: () => this.#frames, ...(view === 'run' && { session: id }) })
    const shared = {
      call,
      inbox: this.#inbox,
      me: 'ana',
      edit: async () => {
        this.editorCount++
        return null
      },
      now: () => performance.now(),
      changed: () => {},
    }
    if (view === 'run') {
      const transcript = new Transcript(this.#inbox.transcriptOptions(id))
      this.#view = new RunModel({
        ...shared,
        transcript,
        session: id,
        canReopen: false,
        modes: ['default', 'plan'],
        size: () => size,
        print: () => {},
      })
    } else
      this.#view = new DashboardModel({
        ...shared,
        url: 'http://localhost',
        folder: '/srv',
        drivers: async () => [],
        leave: () => {
          this.isLeft = true
        },
      })
  }

  /** Opens a view with one session. Call after `vi.useFakeTimers()`. */
  static async open(view: View, state: Session['state']): Promise<TypingHarness> {
    const harness = new TypingHarness(view)
    harness.#frames.push(
      helloWith(
        sessionSample({ id, state, driver: 'claude', title: 'session', capabilities: ['messages', 'interrupt'] }),
      ),
    )
    await harness.wait(10)
    await harness.wait(10)
    if (view === 'tui session' || view === 'tui message') harness.press('\r')
    await harness.wait(1000)
    if (view === 'tui message') harness.press('i')
    await harness.wait(2000)
    harness.sent.length = 0
    return harness
  }

  async ask(ask: Ask): Promise<void> {
    const request = { ...pendingRequest(ask, `req_${++this.#requestCount}`), session: id }
    const event = {
      cursor: `c${this.#requestCount}`,
      at: 0,
      session: id,
      type: 'request.opened',
      value: request,
    } as Event // the fields of `request.opened`
    this.#frames.push({ frame: 'event', event })
    await this.wait(1)
    await this.wait(1)
  }
  get requests(): readonly Request[] {
    return [...this.#inbox.getSnapshot().requests.values()]
  }
  /** The text of the prompt on the screen of `tui` or `run`. */
  get screen(): string {
    const { lines } = this.#view instanceof RunModel ? this.#view.frame : this.#draw()
    return lines.map(line => line.map(({ text }) => text).join('')).join('\n')
  }

  /** Lets time pass, and draws the view as the terminal would. */
  async wait(ms: number): Promise<void> {
    vi.advanceTimersByTime(ms)
    for (let turn = 0; turn < microtasks; turn++) await null
    this.#paint()
  }
  /** Delivers one chunk of input. */
  press(chunk: string): void {
    clearTimeout(this.#flushTimer)
    for (const key of this.#parser.push(chunk)) this.#view.handleKey(key)
    const { flushAfterMs } = this.#parser
    if (flushAfterMs !== null)
      this.#flushTimer = setTimeout(() => {
        for (const key of this.#parser.flush()) this.#view.handleKey(key)
      }, flushAfterMs)
  }
  close(): void {
    this.#inbox.close()
    vi.clearAllTimers()
  }

  #draw() {
    if (this.#view instanceof RunModel) return this.#view.frame
    return dashboardFrame(this.#view, { url: 'http://localhost', now: 0, columns: 80, rows: 24 })
  }
  #paint(): void {
    this.#draw()
    this.#view.onPainted()
  }

  async #reply(op: string, input: unknown): Promise<unknown> {
    switch (op) {
      case 'listEvents':
        return { items: [], next: null }
      case 'getDraft':
        return { draft: null, others: [] }
      case 'putDraft':
        return { at: 1 }
      case 'deleteDraft':
        return {}
      default:
        this.sent.push({ op, input })
        return this.#requestCount === 0 ? {} : this.requests[0]
    }
  }
}

class FrameQueue implements AsyncIterable<Frame> {
  readonly #frames: Frame[] = []
  #wake = () => {}

  push(frame: Frame): void {
    this.#frames.push(frame)
    this.#wake()
  }
  async *[Symbol.asyncIterator](): AsyncIterator<Frame> {
    for (;;) {
      const frame = this.#frames.shift()
      if (frame) yield frame
      else
        await new Promise<void>(resolve => {
          this.#wake = resolve
        })
    }
  }
}

function helloWith(one: Session): Frame {
  const hello = { cursor: 'c0', epoch: 'e', now: 0, resume: 'gap' as const, sessions: [one], requests: [] as Request[] }
  return { frame: 'hello', hello: { ...hello, pending: 0, more: false, blocks: [] } }
}
