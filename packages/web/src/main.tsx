/** The entry point: exchanges a one-use sign-in code for a cookie, then renders the app or the sign-in screen. */
import './ui/tokens.css'
import './ui/base.css'
import './ui/page.css'
import { type Connection, httpCall, Inbox, watchEvents } from '@holdpoint/client'
import { createRoot } from 'react-dom/client'
import { App } from './app.tsx'
import { GatewayContext } from './gateway/gateway-context.ts'
import { fetchAbortedOffline } from './gateway/offline-fetch.ts'
import { SignInScreen } from './screens/sign-in/sign-in-screen.tsx'
import { preventStrayDrops } from './ui/file-drop.ts'

const connection: Connection = { url: location.origin, via: 'page' }
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
  const signInError = code === null ? null : await call('signIn', { code }).then(() => null, returnError)
  try {
    const { person } = await call('whoAmI', {})
    const inbox = new Inbox({
      call,
      watch: options => watchEvents({ ...connection, fetch: fetchAbortedOffline }, options),
    })
    root.render(
      <GatewayContext value={{ call, inbox, me: person }}>
        <App />
      </GatewayContext>,
    )
  } catch (error) {
    // Report a failed sign-in link only here, because a browser that is already signed in does not need the link.
    root.render(<SignInScreen error={signInError ?? error} linkFailed={signInError !== null} />)
  }
}

function returnError(error: unknown): unknown {
  return error
}

preventStrayDrops()
void start()
