/** What the log says of requests whose agent was lost: they are asked again under their old keys, or, where the agent cannot ask again, answered once from the record when it makes the identical call. */
import { type Ask, canonicalJson, type JsonObject, type Request, type Resolution } from '@holdpoint/protocol'
import type { AgentSession } from '../../session/agent-session.ts'
import { questionTool } from '../approvals/permission.ts'
import { questionsAsk } from '../approvals/questions.ts'

export interface CarriedRequest {
  readonly key: string
  readonly ask: Ask
  readonly resolution: Resolution | null
  /** It was on its way when the agent was lost. */
  readonly doubtful: boolean
}

/** What the log says of the turn that is under way. */
export interface InterruptedTurn {
  /** Requests that have not come to their end, by key. */
  readonly open: ReadonlyMap<string, CarriedRequest>
  /** A person has interrupted it while it waited. */
  readonly interrupted: boolean
  /** Begun by a message, not by the agent itself. */
  readonly byMessage: boolean
}

export async function readInterruptedTurn(session: AgentSession): Promise<InterruptedTurn> {
  const byId = new Map<string, CarriedRequest>()
  let interrupted = false
  let byMessage = false
  for await (const event of session.history()) {
    switch (event.type) {
      case 'request.opened':
        byId.set(event.value.id, opened(event.value))
        break
      case 'request.resolved':
        change(byId, event.request, { resolution: event.resolution })
        if (event.resolution.by !== 'agent') break
        byId.delete(event.request)
        if (event.resolution.reason === 'interrupted') interrupted = true
        break
      case 'request.unknown':
        change(byId, event.request, { doubtful: true })
        break
      case 'request.taken':
      case 'request.undeliverable':
        byId.delete(event.request)
        break
      case 'command.taken':
        byMessage = true
        break
      // What an earlier turn left in doubt is none of this one's; what an agent in the background asked in it is.
      case 'turn.finished':
        for (const [id, { doubtful }] of byId) if (doubtful) byId.delete(id)
        interrupted = false
        byMessage = false
    }
  }
  return { open: new Map([...byId.values()].map(open => [open.key, open])), interrupted, byMessage }
}

function opened({ key, ask, resolution }: Request): CarriedRequest {
  return { key, ask, resolution, doubtful: false }
}
function change(byId: Map<string, CarriedRequest>, id: string, more: Partial<CarriedRequest>): void {
  const open = byId.get(id)
  if (open) byId.set(id, { ...open, ...more })
}

/** Asks of an earlier process, for the one that takes its place. */
export class CarriedRequests {
  readonly #byKey: Map<string, CarriedRequest>
  /** Equal calls, in the order in which the agent may mean them. */
  readonly #byCall = new Map<string, CarriedRequest[]>()

  constructor(open: ReadonlyMap<string, CarriedRequest> = new Map(), tellAgain = false) {
    this.#byKey = new Map(open)
    if (!tellAgain) return
    for (const one of [...open.values()].sort((a, b) => rank(a) - rank(b))) {
      const call = callOf(one.ask)
      this.#byCall.set(call, [...(this.#byCall.get(call) ?? []), one])
    }
  }

  /** What no call has repeated yet. */
  get rest(): ReadonlyMap<string, CarriedRequest> {
    return this.#byKey
  }

  /** The ask that this call repeats, once: the same call, or one that is equal to it. */
  take(id: string, tool: string, input: JsonObject): CarriedRequest | undefined {
    const call = tool === questionTool ? callOf(questionsAsk(input)) : canonicalJson({ tool, input })
    const equal = this.#byCall.get(call) ?? []
    const found = this.#byKey.get(id) ?? equal.find(({ key }) => this.#byKey.has(key))
    if (found) this.#byKey.delete(found.key)
    return found
  }
}

/** It was told to make an allowed call again, and one that waits; of the others it has heard all there is. */
function rank({ resolution, doubtful }: CarriedRequest): number {
  if (!resolution) return 1
  return resolution.answer?.kind === 'allow' && !doubtful ? 0 : 2
}

function callOf(ask: Ask): string {
  return canonicalJson(ask.kind === 'approval' ? { tool: ask.tool, input: ask.input } : ask)
}

/** What the agent reads where its calls cannot be asked again. What was said to it so is thereby delivered; what it may still do waits for the identical call. */
export async function summarizeDecisions(
  session: AgentSession,
  open: ReadonlyMap<string, CarriedRequest>,
): Promise<string> {
  const lines: string[] = []
  for (const { key, ask } of open.values()) {
    const [asked] = await session.open([{ key, ask }])
    const { resolution, delivery } = asked?.request ?? {}
    const what = ask.kind === 'approval' ? `${ask.tool} ${canonicalJson(ask.input)}` : `your ${ask.kind}`
    if (!resolution) lines.push(`- ${what}: nobody has answered yet; make the same call again to wait for it`)
    else if (delivery?.state === 'unknown')
      lines.push(`- ${what}: approved and started; its outcome is unknown, check before running it again`)
    else if (resolution.answer?.kind === 'allow')
      lines.push(`- ${what}: allowed; make exactly the same call again to run it`)
    else {
      lines.push(`- ${what}: ${JSON.stringify(resolution.answer ?? 'nobody answered')}`)
      await (await asked?.hand())?.taken()
    }
  }
  return `Your process was lost while you waited for answers. This is what was decided:\n${lines.join('\n')}`
}

/** The turn is over without them: what still waits is no longer asked, and what was answered cannot be delivered. */
export async function dropCarried(session: AgentSession, open: ReadonlyMap<string, CarriedRequest>): Promise<void> {
  for (const { key, ask } of open.values()) {
    const [asked] = await session.open([{ key, ask }])
    if (asked?.request.status === 'pending') await asked.withdraw()
    else await (await asked?.hand())?.dropped()
  }
}
