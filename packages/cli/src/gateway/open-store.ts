/** Opens the store that the `store` setting names: a SQLite file or a PostgreSQL database. */
import { hash } from 'node:crypto'
import { join, resolve } from 'node:path'
import { type CrashPoint, type Recovery, recoverFromLoss, type Store } from '@holdpoint/engine'
import { Fault } from '@holdpoint/protocol'
import type { StoreLoss } from '@holdpoint/store'
import type { DataFolder } from '../config/data-folder.ts'
import { log } from '../log.ts'

export type StoreLocation =
  | { readonly kind: 'sqlite'; readonly file: string }
  | { readonly kind: 'postgres'; readonly url: string }

export function parseStoreLocation(setting: string | undefined, dataFolder: DataFolder): StoreLocation {
  if (setting === undefined) return { kind: 'sqlite', file: dataFolder.databaseFile }
  if (setting.startsWith('file:')) return { kind: 'sqlite', file: resolve(setting.slice('file:'.length)) }
  if (/^postgres(ql)?:\/\//.test(setting)) return { kind: 'postgres', url: setting }
  throw new Fault('bad_input', 'store must be file:PATH or postgres://user@host/database')
}

/** Returns the `store` setting with the password of a database URL hidden, for display. */
export function withoutPassword(setting: string): string {
  if (!/^postgres(ql)?:/.test(setting) || !URL.canParse(setting)) return setting
  const url = new URL(setting)
  if (url.password !== '') url.password = '…'
  return decodeURI(url.href)
}

/** Returns the file that notes the head of the log of a store. It is in the data folder, even if the store is elsewhere. */
export function headFileOf(location: StoreLocation, dataFolder: DataFolder): string {
  if (location.kind === 'sqlite' && location.file === dataFolder.databaseFile) return `${location.file}.head`
  const name = location.kind === 'sqlite' ? location.file : databaseName(location.url)
  return join(dataFolder.path, `${hash('sha256', name).slice(0, 16)}.head`)
}
/** Leaves out the user and the password, which may change. */
function databaseName(url: string): string {
  const { host, pathname } = new URL(url)
  return `${host}${pathname}`
}

export interface OpenStoreOptions {
  readonly crashPoint?: CrashPoint
  /** Whether to open a store that has lost events. All credentials but the owner's are then revoked. */
  readonly acceptDataLoss?: boolean
}

export async function openStore(
  location: StoreLocation,
  dataFolder: DataFolder,
  { crashPoint, acceptDataLoss = false }: OpenStoreOptions = {},
): Promise<Store> {
  const { openPostgres, openSqlite } = await import('@holdpoint/store')
  const options = {
    headFile: headFileOf(location, dataFolder),
    ...(crashPoint ? { crashPoint } : {}),
    ...(acceptDataLoss ? { onLoss: (store: Store, loss: StoreLoss) => recover(store, loss, dataFolder) } : {}),
  }
  return location.kind === 'postgres'
    ? openPostgres({ url: location.url, keyFolder: join(dataFolder.path, 'secret-keys'), ...options })
    : openSqlite({ file: location.file, ...options })
}

async function recover(store: Store, { lastSeq, lastAt, seq }: StoreLoss, dataFolder: DataFolder): Promise<void> {
  const event = (recovery: Recovery) => ({ type: 'store.lost' as const, lastSeq, lastAt, seq, ...recovery })
  const { tokens, unknown } = await recoverFromLoss(store, { ownerSecret: dataFolder.ownerToken(), event })
  log({ event: 'store.lost', lastSeq, lastAt, seq, tokens, unknown })
}
