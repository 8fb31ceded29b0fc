/** What this browser has kept of a person who leaves it goes with them: answers, messages and files that were begun. */
import { draftKeysOf } from '@holdpoint/client'
import { forgetFiles } from '../session/kept-files.ts'
import { unsentKeysOf } from '../session/use-unsent.ts'

export async function forgetPerson(me: string): Promise<void> {
  forgetUnder(() => sessionStorage, draftKeysOf(me))
  forgetUnder(() => localStorage, unsentKeysOf(me))
  await forgetFiles(me)
}

function forgetUnder(storage: () => Storage, start: string): void {
  try {
    for (const key of Object.keys(storage())) if (key.startsWith(start)) storage().removeItem(key)
  } catch {
    // A browser that keeps nothing has nothing to forget.
  }
}
