/** The Settings screen: theme, notifications, a link for another device, browsers and tokens, and facts about this gateway. */
import { type ReactNode, useEffect, useState } from 'react'
import { useMay } from '../../gateway/gateway-context.ts'
import { themes, useTheme } from '../../storage/theme.ts'
import { SegmentedFilter } from '../../ui/segmented-filter.tsx'
import { openDialog } from '../shell/open-dialog.ts'
import { NotificationSwitch, SignOutButton, SoundSwitch } from '../shell/user-menu.tsx'
import { AccessList } from './access-list.tsx'
import { DeviceLink } from './device-link.tsx'
import { aboutTexts, accessTexts, settingsTexts, themeNames } from './texts.ts'
import './settings-screen.css'

const themeOptions = themes.map(value => ({ value, name: themeNames[value] }))

export function SettingsScreen(): ReactNode {
  const [theme, setTheme] = useTheme()
  const may = useMay()
  return (
    <div className="page settings">
      <div className="page-head">
        <h1>{settingsTexts.title}</h1>
      </div>
      <Section title={settingsTexts.appearance}>
        <SegmentedFilter label={settingsTexts.theme} options={themeOptions} value={theme} onChange={setTheme} />
      </Section>
      <Section title={settingsTexts.notifications}>
        <SoundSwitch />
        <NotificationSwitch />
      </Section>
      {may('makeLink') && (
        <Section title={settingsTexts.device}>
          <DeviceLink />
        </Section>
      )}
      <Section title={settingsTexts.access}>
        {may('listTokens') ? <AccessList /> : <p className="soft small">{accessTexts.forOwner}</p>}
      </Section>
      <Section title={settingsTexts.about}>
        <About />
      </Section>
    </div>
  )
}

function Section({ title, children }: { readonly title: string; readonly children: ReactNode }): ReactNode {
  return (
    <section className="settings-section" aria-label={title}>
      <h2>{title}</h2>
      <div className="settings-body">{children}</div>
    </section>
  )
}

function About(): ReactNode {
  const version = useVersion()
  return (
    <>
      <p>{version === null ? aboutTexts.unknownVersion : aboutTexts.version(version)}</p>
      <div className="settings-actions">
        <button type="button" className="button" onClick={() => openDialog('help')}>
          {aboutTexts.keyboard}
        </button>
        <SignOutButton className="button" label={aboutTexts.signOut} />
      </div>
    </>
  )
}

/** Returns the version of the gateway, or null until it is known. */
function useVersion(): string | null {
  const [version, setVersion] = useState<string | null>(null)
  useEffect(() => {
    const controller = new AbortController()
    fetch('/healthz', { signal: controller.signal })
      .then(reply => reply.json())
      .then(
        (health: { readonly version?: unknown }) =>
          typeof health.version === 'string' && !controller.signal.aborted && setVersion(health.version),
        () => {}, // the name without a version is shown instead
      )
    return () => controller.abort()
  }, [])
  return version
}
