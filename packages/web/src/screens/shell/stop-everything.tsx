/** The dialog that interrupts all agents after a confirmation. */
import { type ReactNode, useState } from 'react'
import { errorMessage } from '../../gateway/error-message.ts'
import { useGateway, useInboxPart, useLive, useSessions } from '../../gateway/gateway-context.ts'
import { countWorking } from '../../gateway/session-groups.ts'
import { useCancelFocus } from '../../ui/confirm-button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { stopTexts } from './texts.ts'

export function StopEverything({ onClose }: { readonly onClose: () => void }): ReactNode {
  const { call } = useGateway()
  const live = useLive()
  const sessions = useSessions()
  const pending = useInboxPart(snapshot => snapshot.pendingCount)
  const [sending, setSending] = useState(false)
  const [problem, setProblem] = useState('')
  const { cancelRef, ready } = useCancelFocus()
  const stop = async () => {
    setSending(true)
    try {
      await call('stopEverything', {})
      onClose()
    } catch (error) {
      setProblem(errorMessage(error))
      setSending(false)
    }
  }
  return (
    <Dialog label={stopTexts.title} onClose={onClose}>
      <h1>{stopTexts.title}</h1>
      <p className="soft">{stopTexts.consequence(countWorking(sessions.values()), pending)}</p>
      {problem && (
        <p className="problem" role="alert">
          {problem}
        </p>
      )}
      <div className="dialog-actions">
        <button ref={cancelRef} type="button" className="button" onClick={onClose}>
          {stopTexts.cancel}
        </button>
        <button
          type="button"
          className="button primary"
          disabled={!live || !ready || sending}
          onClick={() => void stop()}
        >
          {sending ? stopTexts.stopping : stopTexts.confirm}
        </button>
      </div>
    </Dialog>
  )
}
