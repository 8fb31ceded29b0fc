/** Asks once whether to show browser notifications. The browser stores the answer, so the question is not shown again. */
import { memo, type ReactNode, useState } from 'react'
import { canNotify } from '../../notifications/notify.ts'
import { usePreference, writePreference } from '../../storage/preferences.ts'
import { notifyTexts } from './texts.ts'
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
      {notifyTexts.question}
      <button type="button" className="button plain small" onClick={() => void turnOn()}>
        {notifyTexts.accept}
      </button>
      <button type="button" className="button plain small" onClick={() => writePreference('notifications', 'off')}>
        {notifyTexts.refuse}
      </button>
    </p>
  )
})
