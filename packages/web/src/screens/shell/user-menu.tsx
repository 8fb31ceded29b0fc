/** The user menu: sound, notifications, keyboard help, sign out. */
import CircleUserIcon from 'lucide-react/icons/circle-user'
import { type ReactNode, useState } from 'react'
import { errorMessage } from '../../gateway/error-message.ts'
import { useGateway } from '../../gateway/gateway-context.ts'
import { playChime } from '../../notifications/chime.ts'
import { canNotify } from '../../notifications/notify.ts'
import { href } from '../../routes.ts'
import { clearUserData } from '../../storage/clear-user-data.ts'
import { usePreference, writePreference } from '../../storage/preferences.ts'
import { InlineAgentText } from '../../text/agent-text.tsx'
import { openDialog } from './open-dialog.ts'
import { navItems } from './sidebar.tsx'
import { userMenuTexts } from './texts.ts'
import './user-menu.css'

/** Closes the menu when one of its links is clicked, because browsers do not close a popover then. */
function closeMenu(): void {
  document.getElementById('user-menu')?.hidePopover()
}

export function UserMenu(): ReactNode {
  const { myName } = useGateway()
  return (
    <>
      <button type="button" className="button plain user-menu-button" popoverTarget="user-menu">
        <CircleUserIcon /> <InlineAgentText text={myName} />
      </button>
      <div id="user-menu" popover="auto" className="menu">
        <SoundSwitch />
        <NotificationSwitch />
        <button type="button" className="menu-item" popoverTarget="user-menu" onClick={() => openDialog('help')}>
          {userMenuTexts.keyboard} <kbd className="kbd letter-key">?</kbd>
        </button>
        {navItems.slice(4).map(({ screen, name }) => (
          <a key={screen} className="menu-item only-phone" href={href({ screen })} onClick={closeMenu}>
            {name}
          </a>
        ))}
        <SignOutButton className="menu-item" label={userMenuTexts.signOut} />
      </div>
    </>
  )
}

/** Returns a function that signs this browser out and removes what it has stored. */
export function useSignOut(): () => Promise<void> {
  const { me, call } = useGateway()
  return async () => {
    await call('signOut', {})
    await clearUserData(me)
    location.reload()
  }
}

export function SignOutButton({ className, label }: { readonly className: string; readonly label: string }): ReactNode {
  const signOut = useSignOut()
  const [problem, setProblem] = useState('')
  const onClick = () => void signOut().catch((error: unknown) => setProblem(errorMessage(error)))
  return (
    <>
      <button type="button" className={className} onClick={onClick}>
        {label}
      </button>
      {problem && (
        <p className="problem" role="alert">
          {problem}
        </p>
      )}
    </>
  )
}

export interface Switch {
  readonly on: boolean
  readonly change: () => void
}

export function useSoundSwitch(): Switch {
  const on = usePreference('sound') === 'on'
  const change = () => {
    writePreference('sound', on ? 'off' : 'on')
    if (!on) playChime()
  }
  return { on, change }
}

export function SoundSwitch(): ReactNode {
  const { on, change } = useSoundSwitch()
  return (
    <label className="menu-item">
      <span>{userMenuTexts.sound}</span>
      <input type="checkbox" checked={on} onChange={change} />
    </label>
  )
}

export function useNotificationSwitch(): Switch & { readonly permission: NotificationPermission } {
  const off = usePreference('notifications') === 'off'
  const [permission, setPermission] = useState(() => (canNotify() ? Notification.permission : 'denied'))
  const on = permission === 'granted' && !off
  const change = async () => {
    writePreference('notifications', on ? 'off' : 'on')
    if (!on && permission === 'default') setPermission(await Notification.requestPermission())
  }
  return { on, change: () => void change(), permission }
}

export function NotificationSwitch(): ReactNode {
  const { on, change, permission } = useNotificationSwitch()
  if (!canNotify()) return null
  return (
    <label className="menu-item">
      <span>
        {userMenuTexts.notify}
        {permission === 'denied' && <span className="soft small menu-note">{userMenuTexts.notifyBlocked}</span>}
      </span>
      <input type="checkbox" checked={on} disabled={permission === 'denied'} onChange={change} />
    </label>
  )
}
