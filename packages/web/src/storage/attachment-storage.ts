/** Files that wait to be sent, kept by this browser for each person and session, so that a reload loses none. Where it keeps nothing, they last as long as the screen. */
import { Attachment, limits, type SessionId } from '@holdpoint/protocol'

interface Kept {
  readonly at: number
  readonly files: readonly Attachment[]
}
const store = 'unsent-files'
/** Nobody comes back for what is older. */
const keptMs = 7 * 24 * 3600_000

let opening: Promise<IDBDatabase> | undefined

async function openDatabase(): Promise<IDBDatabase> {
  const request = indexedDB.open('holdpoint', 1)
  request.onupgradeneeded = () => request.result.createObjectStore(store).createIndex('at', 'at')
  const database = await settled(request)
  const files = database.transaction(store, 'readwrite').objectStore(store)
  const old = await settled(files.index('at').getAllKeys(IDBKeyRange.upperBound(Date.now() - keptMs)))
  for (const key of old) files.delete(key)
  return database
}
function settled<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((done, fail) => {
    request.onsuccess = () => done(request.result)
    request.onerror = () => fail(request.error)
  })
}
async function inStore<T>(mode: IDBTransactionMode, act: (files: IDBObjectStore) => IDBRequest<T>): Promise<T> {
  opening ??= openDatabase()
  const transaction = (await opening).transaction(store, mode)
  const request = act(transaction.objectStore(store))
  // Left to itself it would wait for the page to hear of the request, and a page that is left by then takes it all back.
  transaction.commit()
  return settled(request)
}

export async function readAttachments(me: string, id: SessionId): Promise<readonly Attachment[]> {
  const kept: Partial<Kept> | undefined = await inStore('readonly', all => all.get([me, id])).catch(() => undefined)
  const read = Attachment.array().max(limits.attachmentsMax).safeParse(kept?.files)
  return read.success ? read.data : []
}

/** A browser that refuses, or that has no more room, keeps nothing. */
export async function saveAttachments(me: string, id: SessionId, files: readonly Attachment[]): Promise<void> {
  const kept: Kept = { at: Date.now(), files }
  const key = [me, id]
  const done: Promise<unknown> =
    files.length > 0 ? inStore('readwrite', all => all.put(kept, key)) : inStore('readwrite', all => all.delete(key))
  await done.catch(() => {})
}

export async function removeAttachments(me: string): Promise<void> {
  // A list comes behind every text.
  await inStore('readwrite', all => all.delete(IDBKeyRange.bound([me], [me, []]))).catch(() => {})
}
