/** Registers the service worker, which shows notifications and an offline page. The worker never caches responses of the API. */
import { isId } from '@holdpoint/protocol'
import { openRequest } from './notify.ts'

interface TrustedTypePolicies {
  createPolicy(name: string, rules: { createScriptURL(url: string): string }): { createScriptURL(url: string): unknown }
}

/** Returns the URL of the service worker as a trusted URL, because the gateway's Content-Security-Policy requires Trusted Types for script URLs. */
function trustedScriptUrl(): string {
  const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypePolicies } // Some browsers and TypeScript's DOM types lack `trustedTypes`.
  const policy = trustedTypes?.createPolicy('holdpoint-worker', { createScriptURL: () => '/sw.js' })
  return (policy?.createScriptURL('/sw.js') ?? '/sw.js') as string // This is a TrustedScriptURL, which `register` requires in browsers with Trusted Types.
}

export function startServiceWorker(): void {
  const { serviceWorker } = navigator
  // Browsers offer service workers only in secure contexts. The page also works without a service worker, so a failed registration is ignored.
  if (!serviceWorker) return
  serviceWorker.register(trustedScriptUrl(), { updateViaCache: 'none' }).catch(() => {})
  serviceWorker.addEventListener('message', ({ data }: MessageEvent<{ open?: unknown }>) => {
    if (data?.open === undefined) return
    openRequest(isId('req', data.open) ? data.open : null)
  })
}
