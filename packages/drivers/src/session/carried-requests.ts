/** Carried requests, which an earlier process of the session left open. The next process opens them again under their old keys. If a call cannot be resumed, its recorded answer applies once to an equal new call. */

import type { AgentSession } from '@holdpoint/client'
import { type Ask, answerForAgent, canonicalJson, isGatewayRequest, type Request } from '@holdpoint/protocol'
import type { CarriedRequest, InterruptedTurn } from './agent-connection.ts'
import { decisions } from './loop-messages.ts'

/** Reads the log up to now, and returns the turn that is open in it. The session then also knows which tool calls an earlier process has left open. */
export async function readInterruptedTurn(session: AgentSession): Promise<InterruptedTurn> {
  const byId = new Map<string, CarriedRequest>()
  const gatewayRequests = new Set<string>()
  let interrupted = false
  let startedByMessage = false
  // Without the flush, a tool call whose end has not reached the log yet would count as open.
  await session.flush()
  for await (const event of session.history()) {
    session.openToolCalls.track(event)
    switch (event.type) {
      case 'request.opened':
        // The gateway opened this request itself, so the agent does not know it.
        if (isGatewayRequest(event.value)) gatewayRequests.add(event.value.id)
        else byId.set(event.value.id, fromRequest(event.value))
        break
      case 'request.resolved':
        if (gatewayRequests.has(event.request)) break
        update(byId, event.request, { resolution: event.resolution })
        if (event.resolution.by !== 'agent') break
        byId.delete(event.request)
        if (event.resolution.reason === 'interrupted') interrupted = true
        break
      case 'request.unknown':
        update(byId, event.request, { outcomeUnknown: true })
        break
      case 'request.taken':
      case 'request.undeliverable':
        byId.delete(event.request)
        break
      case 'command.taken':
        startedByMessage = true
        break
      // Requests of background subagents outlive the turn, so keep them. Drop only requests whose outcome is unknown.
      case 'turn.finished':
        for (const [id, { outcomeUnknown }] of byId) if (outcomeUnknown) byId.delete(id)
        interrupted = false
        startedByMessage = false
    }
  }
  const requests = new Map([...byId.values()].map(request => [request.key, request]))
  return { requests, interrupted, startedByMessage }
}

function fromRequest({ key, ask, resolution }: Request): CarriedRequest {
  return { key, ask, resolution, outcomeUnknown: false }
}
function update(byId: Map<string, CarriedRequest>, id: string, change: Partial<CarriedRequest>): void {
  const request = byId.get(id)
  if (request) byId.set(id, { ...request, ...change })
}

/** Finds the carried request that a call of the new process repeats. */
export class CarriedRequests {
  readonly #byKey: Map<string, CarriedRequest>
  /** Requests for equal calls, by tool and input, in the order in which new calls are matched to them. */
  readonly #byCall = new Map<string, CarriedRequest[]>()

  /** If `matchEqualCalls` is set, a call with a new id counts as a repetition of a carried request that has the same tool and input. */
  constructor(requests: ReadonlyMap<string, CarriedRequest> = new Map(), matchEqualCalls = false) {
    this.#byKey = new Map(requests)
    if (!matchEqualCalls) return
    for (const request of [...requests.values()].sort((a, b) => matchOrder(a) - matchOrder(b))) {
      const call = callKey(request.ask)
      this.#byCall.set(call, [...(this.#byCall.get(call) ?? []), request])
    }
  }

  /** Requests that no call has repeated yet. */
  get remaining(): ReadonlyMap<string, CarriedRequest> {
    return this.#byKey
  }

  /** Returns and removes the request that has the call's id as its key, or else a request for an equal call. */
  take(id: string, ask: Ask): CarriedRequest | undefined {
    const equal = this.#byCall.get(callKey(ask)) ?? []
    const found = this.#byKey.get(id) ?? equal.find(({ key }) => this.#byKey.has(key))
    if (found) this.#byKey.delete(found.key)
    return found
  }
}

/** Sorts allowed calls first, then pending calls, because `summarizeDecisions` tells the agent to repeat these calls. The agent has no reason to repeat the other calls. */
function matchOrder({ resolution, outcomeUnknown }: CarriedRequest): number {
  if (!resolution) return 1
  return resolution.answer?.kind === 'allow' && !outcomeUnknown ? 0 : 2
}

/** Returns the same text for asks that ask for the same call. The input of some agents does not name the folder in which a command runs. */
export function callKey(ask: Ask): string {
  if (ask.kind !== 'approval') return canonicalJson(ask)
  const { tool, input, action, cwd } = ask
  return canonicalJson({ tool, input, action, cwd })
}

/** Returns a message that tells the agent what was decided about calls that cannot be resumed. Reports the answers in the message as taken, except allows, which are handed when the agent repeats the call. */
export async function summarizeDecisions(
  session: AgentSession,
  requests: ReadonlyMap<string, CarriedRequest>,
): Promise<string> {
  const lines: string[] = []
  for (const { key, ask } of requests.values()) {
    const [open] = await session.open([{ key, ask }])
    const { resolution, delivery } = open?.request ?? {}
    const call = ask.kind === 'approval' ? `${ask.tool} ${canonicalJson(ask.input)}` : `your ${ask.kind}`
    if (!resolution) lines.push(decisions.pending(call))
    else if (delivery?.state === 'unknown') lines.push(decisions.unknown(call))
    else if (resolution.answer?.kind === 'allow') lines.push(decisions.allowed(call))
    else {
      const answer = resolution.answer && answerForAgent(ask, resolution.answer)
      lines.push(decisions.answered(call, JSON.stringify(answer ?? decisions.nobodyAnswered)))
      await (await open?.hand())?.taken()
    }
  }
  return `${decisions.heading}\n${lines.join('\n')}`
}

/** Drops requests that no call repeated before the turn ended: withdraws pending requests, and reports answers as undeliverable. */
export async function dropCarried(session: AgentSession, requests: ReadonlyMap<string, CarriedRequest>): Promise<void> {
  for (const { key, ask } of requests.values()) {
    const [open] = await session.open([{ key, ask }])
    if (open?.request.status === 'pending') await open.withdraw()
    else await (await open?.hand())?.dropped()
  }
}
