/** The empty inbox: says how many agents are working or have failed or, until the first session with a real agent, how to get there. */
import type { Session } from '@holdpoint/protocol'
import InboxIcon from 'lucide-react/icons/inbox'
import type { ReactNode } from 'react'
import { useSessions } from '../../gateway/gateway-context.ts'
import { countFailed, countWorking } from '../../gateway/session-groups.ts'
import { href } from '../../routes.ts'
import { lazyComponent } from '../../ui/lazy-component.tsx'
import { openDialog } from '../shell/open-dialog.ts'
import { emptyTexts, failedText, workingText } from './texts.ts'
import './inbox-empty.css'

const FirstUse = lazyComponent(
  async () => (await import('./first-use/first-use.tsx')).FirstUse,
  () => null,
)

export function InboxEmpty(): ReactNode {
  const sessions = useSessions()
  if ([...sessions.values()].every(isRehearsal)) return <FirstUse hasRehearsed={sessions.size > 0} />
  const failed = countFailed(sessions.values())
  const working = countWorking(sessions.values())
  return (
    <div className="empty">
      <InboxIcon className="empty-icon" />
      <h1>{emptyTexts.title}</h1>
      <p className="soft">{workingText(working)}</p>
      {failed > 0 && (
        <p>
          <a className="inbox-failed" href={href({ screen: 'sessions' })}>
            {failedText(failed)}
          </a>
        </p>
      )}
      {working === 0 && (
        <div className="empty-actions">
          <button type="button" className="button" onClick={() => openDialog('start')}>
            {emptyTexts.newSession}
          </button>
        </div>
      )}
    </div>
  )
}

function isRehearsal({ driver }: Session): boolean {
  return driver === 'rehearsal'
}
