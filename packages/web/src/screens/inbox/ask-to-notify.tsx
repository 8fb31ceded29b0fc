/** Asks once, quietly, whether to be told while the page is hidden. Whatever is said, it does not ask again. */
import { memo, type ReactNode, useState } from 'react'
import { canNotify } from '../../notifications/notify.ts'
import { usePreference, writePreference } from '../../storage/preferences.ts'
import './ask-to-notify.css'

export const AskToNotify = memo(function AskToNotify(): ReactNode {
  const answered = usePreference('notifications') !== null
  const [asked, setAsked] = useState(false)
  if (answered || asked || !canNotify() || Notification.permission !== 'default') return null
  const turnOn = async () => {
    setAsked(true)
    writePreference('notifications', (await Notification.requestPermission()) === 'denied' ? 'off' : 'on')
  }
  return (
    <p className="ask-to-notify small soft">
      Be told when something waits while this page is hidden?
      <button type="button" className="button plain small" onClick={() => void turnOn()}>
        Notify me
      </button>
      <button type="button" className="button plain small" onClick={() => writePreference('notifications', 'off')}>
        No, and don’t ask again
      </button>
    </p>
  )
})
