/** Finds a command that this person has allowed often and nobody has denied, so that the inbox can offer a rule for exactly this command. */
import { isDangerous } from '@holdpoint/client'
import { actionOf, type Call, type Request, type RequestId, type RuleDraft } from '@holdpoint/protocol'
import { useEffect, useMemo, useState } from 'react'
import { useGateway } from '../../gateway/gateway-context.ts'
import { declineRule, isRuleDeclined } from '../../storage/declined-rules.ts'

export interface HistoryOffer {
  readonly rule: RuleDraft
  /** How often this person has allowed the command. */
  readonly allowed: number
}

/** How often the person must have allowed a command before the inbox offers a rule. */
const allowedMin = 5

/** Returns the command of an approval that this person has just allowed, together with its folder; null for anything else. */
function allowedCommand({ ask, resolution, risk }: Request, me: string): string | null {
  const answer = resolution?.personId === me ? resolution.answer : undefined
  if (ask.kind !== 'approval' || answer?.kind !== 'allow' || isDangerous({ ask, ...(risk && { risk }) })) return null
  if (answer.input || answer.remember || answer.suggestion !== undefined || ask.caution?.noRemember) return null
  const action = actionOf(ask)
  return 'shell' in action ? `${action.shell}\n${action.cwd}` : null
}

function lastAllowed(requests: Iterable<Request>, me: string): Request | null {
  const allowed = [...requests].filter(request => allowedCommand(request, me) !== null)
  return allowed.sort((a, b) => (b.resolution?.at ?? 0) - (a.resolution?.at ?? 0))[0] ?? null
}

/** How many more allows each command needs before it is worth asking the gateway again. */
type MissingAllows = Map<string, number>

async function findOffer(call: Call, id: RequestId): Promise<{ offer: HistoryOffer | null; missing: number }> {
  const { items } = await call('proposeRules', { id })
  const exact = items.find(({ rule }) => rule.command !== undefined && rule.args !== 'grammar')?.rule
  if (!exact || isRuleDeclined(exact)) return { offer: null, missing: Number.POSITIVE_INFINITY }
  const { allowedByYou: allowed, denied } = await call('previewRule', { rule: exact })
  if (denied > 0) return { offer: null, missing: Number.POSITIVE_INFINITY }
  const missing = allowedMin - allowed
  return { offer: missing > 0 ? null : { rule: exact, allowed }, missing }
}

/** Returns the current offer, and a function that ends it permanently. */
export function useHistoryOffer(
  requests: ReadonlyMap<RequestId, Request>,
): readonly [offer: HistoryOffer | null, end: () => void] {
  const { call, me } = useGateway()
  const last = useMemo(() => lastAllowed(requests.values(), me), [requests, me])
  const [offer, setOffer] = useState<HistoryOffer | null>(null)
  const [missing] = useState<MissingAllows>(() => new Map())
  const id = last?.id
  const command = last && allowedCommand(last, me)
  useEffect(() => {
    if (id === undefined || command === null) return
    const stillMissing = (missing.get(command) ?? 1) - 1
    missing.set(command, stillMissing)
    if (stillMissing > 0) return
    let isStale = false
    findOffer(call, id).then(
      found => {
        missing.set(command, found.missing)
        if (found.offer && !isStale) setOffer(found.offer)
      },
      () => {}, // ignored, because the inbox works without an offer
    )
    return () => {
      isStale = true
    }
  }, [call, id, command, missing])
  const end = () => {
    if (offer) declineRule(offer.rule)
    setOffer(null)
  }
  return [offer, end]
}
