/** Removes a person's page secret, drafts, unsent attachments, declined rules, muted sessions and unread marks from this browser when they sign out. */
import { draftKeysOf } from '@holdpoint/client'
import { removeAttachments } from './attachment-storage.ts'
import { clearDeclinedRules } from './declined-rules.ts'
import { clearMuted } from './muted-sessions.ts'
import { removePageSecret } from './page-secret.ts'
import { removePersonal } from './preferences.ts'
import { messageDraftPrefix } from './use-message-draft.ts'

export async function clearUserData(me: string): Promise<void> {
  removePageSecret()
  clearDeclinedRules()
  clearMuted()
  removePersonal(me)
  removeKeys(() => sessionStorage, draftKeysOf(me))
  removeKeys(() => localStorage, messageDraftPrefix(me))
  await removeAttachments(me)
}

function removeKeys(storage: () => Storage, prefix: string): void {
  try {
    for (const key of Object.keys(storage())) if (key.startsWith(prefix)) storage().removeItem(key)
  } catch {
    // The browser blocks storage, so there is nothing to remove.
  }
}
