/** Lists the signed-in browsers and the tokens of this gateway, and revokes them. */
import { timeSince } from '@holdpoint/client'
import type { Token } from '@holdpoint/protocol'
import { type ReactNode, useCallback, useEffect, useState } from 'react'
import { errorMessage } from '../../gateway/error-message.ts'
import { useGateway, useGatewayTime, useLive } from '../../gateway/gateway-context.ts'
import { clearUserData } from '../../storage/clear-user-data.ts'
import { InlineAgentText } from '../../text/agent-text.tsx'
import { dateTime, shortDate } from '../../text/format-time.ts'
import { ConfirmButton } from '../../ui/confirm-button.tsx'
import { commonTexts } from '../texts.ts'
import { accessTexts } from './texts.ts'

interface Access {
  /** Null until the list is loaded. */
  readonly tokens: readonly Token[] | null
  readonly own: string | null
  readonly problem: string
}

export function AccessList(): ReactNode {
  const { call, inbox } = useGateway()
  const now = useGatewayTime(60_000)
  const [{ tokens, own, problem }, setAccess] = useState<Access>({ tokens: null, own: null, problem: '' })
  const [result, setResult] = useState('')
  const load = useCallback(async () => {
    try {
      const [{ items }, { token }] = await Promise.all([call('listTokens', {}), call('whoAmI', {})])
      setAccess({ tokens: items.toSorted(lastUsedFirst), own: token, problem: '' })
    } catch (error) {
      setAccess(before => ({ ...before, problem: accessTexts.loadFailed(errorMessage(error)) }))
    }
  }, [call])
  useEffect(() => {
    void load()
    return inbox.onFrame(frame => {
      if (frame.frame === 'event' && frame.event.type.startsWith('token.')) void load()
    })
  }, [load, inbox])
  const onRevoked = async (count: number) => {
    setResult(accessTexts.revoked(count))
    await load()
  }
  return (
    <>
      <p className="soft small">{accessTexts.introduction}</p>
      <p className="soft small" role="status">
        {result}
      </p>
      {problem && (
        <div className="load-error" role="alert">
          <p className="problem">{problem}</p>
          <button type="button" className="button" onClick={() => void load()}>
            {commonTexts.tryAgain}
          </button>
        </div>
      )}
      {tokens === null && !problem && <p className="soft small">{accessTexts.loading}</p>}
      <ul className="access-list">
        {tokens?.map(token => (
          <AccessRow key={token.id} token={token} isOwn={token.id === own} now={now} onRevoked={onRevoked} />
        ))}
      </ul>
    </>
  )
}

function lastUsedFirst(a: Token, b: Token): number {
  return (b.lastUsedAt ?? b.madeAt) - (a.lastUsedAt ?? a.madeAt) || (a.id < b.id ? -1 : 1)
}

interface AccessRowProps {
  readonly token: Token
  readonly isOwn: boolean
  readonly now: number
  readonly onRevoked: (count: number) => Promise<void>
}

function AccessRow({ token, isOwn, now, onRevoked }: AccessRowProps): ReactNode {
  const { call, me } = useGateway()
  const live = useLive()
  const [sending, setSending] = useState(false)
  const [problem, setProblem] = useState('')
  const revoke = async () => {
    setSending(true)
    setProblem('')
    try {
      const { revoked } = await call('removeToken', { id: token.id })
      if (isOwn) await clearUserData(me).then(() => location.reload())
      else await onRevoked(revoked.length)
    } catch (error) {
      setProblem(errorMessage(error))
      setSending(false)
    }
  }
  const { kind, role, name, madeAt, lastUsedAt, expiresAt } = token
  const facts = [
    accessTexts.roles[role],
    accessTexts.created(shortDate(madeAt)),
    usedLabel(lastUsedAt, isOwn, now),
    ...(expiresAt === null ? [] : [accessTexts.expires(shortDate(expiresAt))]),
  ]
  return (
    <li className="access-row">
      <div className="access-main">
        <p>
          <span className="access-kind">{accessTexts.kinds[kind]}</span> <InlineAgentText text={name} />
          {isOwn && <span className="access-own">{accessTexts.thisBrowser}</span>}
        </p>
        <p className="soft small" title={dateTime(lastUsedAt ?? madeAt)}>
          {facts.join(' · ')}
        </p>
        {problem && (
          <p className="problem" role="alert">
            {problem}
          </p>
        )}
      </div>
      <ConfirmButton
        label={sending ? commonTexts.sending : `${accessTexts.revoke}…`}
        question={accessTexts.revokeQuestion(name)}
        consequence={isOwn ? accessTexts.revokeOwnWarning : accessTexts.revokeWarning}
        confirmLabel={accessTexts.revoke}
        disabled={!live || sending}
        className="small"
        onConfirm={() => void revoke()}
      />
    </li>
  )
}

/** The gateway records uses with a delay, but this browser is in use. */
function usedLabel(lastUsedAt: number | null, isOwn: boolean, now: number): string {
  if (isOwn) return accessTexts.inUse
  return lastUsedAt === null ? accessTexts.neverUsed : accessTexts.used(timeSince(lastUsedAt, now))
}
