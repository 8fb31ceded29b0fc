/** What this browser has kept of a person who leaves it goes with them: answers, messages and files that were begun. */
import { draftKeysOf } from '@holdpoint/client'
import { removeAttachments } from './attachment-storage.ts'
import { messageDraftKeys } from './use-message-draft.ts'

export async function clearUserData(me: string): Promise<void> {
  forgetUnder(() => sessionStorage, draftKeysOf(me))
  forgetUnder(() => localStorage, messageDraftKeys(me))
  await removeAttachments(me)
}

function forgetUnder(storage: () => Storage, start: string): void {
  try {
    for (const key of Object.keys(storage())) if (key.startsWith(start)) storage().removeItem(key)
  } catch {
    // A browser that keeps nothing has nothing to forget.
  }
}
