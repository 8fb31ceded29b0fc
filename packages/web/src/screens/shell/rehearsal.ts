/** Starts a rehearsal that shows every kind of request, and opens its session. */
import type { Call } from '@holdpoint/protocol'
import { go } from '../../routes.ts'
import { rehearsalPrompt } from '../texts.ts'

export async function startRehearsal(call: Call): Promise<void> {
  const { id } = await call('startSession', { driver: 'rehearsal', title: 'Rehearsal', prompt: rehearsalPrompt })
  go({ screen: 'session', id })
}
