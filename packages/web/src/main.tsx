/** The way in: a one-use code becomes a cookie, and whoever has none is told how to get one. */
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
const place = document.getElementById('page')
if (!place) throw new Error('the page has no place to stand')
const root = createRoot(place)

function readCode(): string | null {
  return new URLSearchParams(location.hash.replace(/^#\/?/, '')).get('code')
}

async function start(): Promise<void> {
  const code = readCode()
  // A code works once, but an address is copied, synced and shown: it goes before anything else happens.
  if (code !== null) history.replaceState(null, '', '/')
  addEventListener('hashchange', () => readCode() !== null && location.reload())
  try {
    // A link that was used up matters only to a browser that is not signed in.
    const refusal = code === null ? null : await call('signIn', { code }).then(() => null, keep)
    const { person } = await call('whoAmI', {}).catch((error: unknown) => Promise.reject(refusal ?? error))
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
    root.render(<SignInScreen error={error} />)
  }
}

function keep(error: unknown): unknown {
  return error
}

preventStrayDrops()
void start()
