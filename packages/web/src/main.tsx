/** The entry point: exchanges the code of a sign-in link for a cookie and a page secret, then renders the app or the sign-in screen. */
import './ui/fonts.css'
import './ui/tokens.css'
import './ui/base.css'
import './ui/page.css'
import { type Connection, httpCall, Inbox, watchEvents } from '@holdpoint/client'
import type { Role } from '@holdpoint/protocol'
import { createRoot } from 'react-dom/client'
import { App } from './app.tsx'
import { GatewayContext } from './gateway/gateway-context.ts'
import { fetchAbortedOffline } from './gateway/offline-fetch.ts'
import { SignInScreen } from './screens/sign-in/sign-in-screen.tsx'
import { SwitchPersonScreen } from './screens/sign-in/switch-person-screen.tsx'
import { readPageSecret, writePageSecret } from './storage/page-secret.ts'
import { preventStrayDrops } from './ui/file-drop.ts'

const connection: Connection = { url: location.origin, pageSecret: readPageSecret }
const call = httpCall(connection)
const container = document.getElementById('page')
if (!container) throw new Error('index.html has no element #page')
const root = createRoot(container)

function readCode(): string | null {
  return new URLSearchParams(location.hash.replace(/^#\/?/, '')).get('code')
}

async function start(): Promise<void> {
  const code = readCode()
  // Remove the code from the URL first, because people copy, sync and share URLs.
  if (code !== null) history.replaceState(null, '', '/')
  addEventListener('hashchange', () => readCode() !== null && location.reload())
  if (code !== null && readPageSecret() === null) return signIn(code)
  try {
    const { id, person: name, role } = await call('whoAmI', {})
    const current: SignedIn = { id, name, role }
    const other = code === null ? null : await describeOther(code, current)
    if (code === null || other === null) renderApp(current)
    else
      root.render(
        <SwitchPersonScreen
          current={current.name}
          other={other}
          onStay={() => renderApp(current)}
          onSwitch={() => void switchPerson(code)}
        />,
      )
  } catch (error) {
    if (code === null) root.render(<SignInScreen error={error} />)
    else await signIn(code)
  }
}

/** The signed-in person. */
interface SignedIn {
  readonly id: string
  readonly name: string
  readonly role: Role
}

/** Resolves with the name of the person that the link signs in, or null if the link can be ignored: it is for the signed-in person, or does not work. */
async function describeOther(code: string, current: SignedIn): Promise<string | null> {
  const link = await call('describeLink', { code }).catch(() => null)
  return link === null || link.personId === current.id ? null : link.person
}

async function signIn(code: string): Promise<void> {
  try {
    const { person: name, personId: id, role, pageSecret } = await call('signIn', { code })
    writePageSecret(pageSecret)
    renderApp({ id, name, role })
  } catch (error) {
    root.render(<SignInScreen error={error} linkFailed />)
  }
}

async function switchPerson(code: string): Promise<void> {
  // The cookie is about to be replaced, so a failure to revoke the old one does not matter to this browser.
  await call('signOut', {}).catch(() => {})
  await signIn(code)
}

function renderApp({ id, name, role }: SignedIn): void {
  const inbox = new Inbox({
    call,
    watch: options => watchEvents({ ...connection, fetch: fetchAbortedOffline }, options),
  })
  root.render(
    <GatewayContext value={{ call, inbox, me: id, myName: name, myRole: role }}>
      <App />
    </GatewayContext>,
  )
}

preventStrayDrops()
void start()
