/** The service worker: it shows notifications and says, when the gateway is away, that it is. It keeps nothing of the API. */
import { RequestId } from '@holdpoint/protocol'
import { openRequest } from './notify.ts'

interface Policies {
  createPolicy(name: string, rules: { createScriptURL(url: string): string }): { createScriptURL(url: string): unknown }
}

/** The gateway's policy lets only trusted addresses become scripts; there is one, and it stands here. */
function scriptAddress(): string {
  const { trustedTypes } = globalThis as { trustedTypes?: Policies } // not in every browser, and not in the compiler's list
  const policy = trustedTypes?.createPolicy('holdpoint-worker', { createScriptURL: () => '/sw.js' })
  return (policy?.createScriptURL('/sw.js') ?? '/sw.js') as string // a TrustedScriptURL, which is what `register` wants where there is one
}

export function startServiceWorker(): void {
  const { serviceWorker } = navigator
  // A page that is not served safely has none; it works without.
  if (!serviceWorker) return
  serviceWorker.register(scriptAddress(), { updateViaCache: 'none' }).catch(() => {})
  serviceWorker.addEventListener('message', ({ data }: MessageEvent<{ open?: unknown }>) => {
    if (data?.open === undefined) return
    openRequest(RequestId.safeParse(data.open).data ?? null)
  })
}
