/** Opens the store that the `store` setting names: a SQLite file or a PostgreSQL database. */
import { resolve } from 'node:path'
import type { CrashPoint, Store } from '@holdpoint/engine'
import { Fault } from '@holdpoint/protocol'
import type { DataFolder } from '../config/data-folder.ts'

export type StoreLocation =
  | { readonly kind: 'sqlite'; readonly file: string }
  | { readonly kind: 'postgres'; readonly url: string }

export function parseStoreLocation(setting: string | undefined, dataFolder: DataFolder): StoreLocation {
  if (setting === undefined) return { kind: 'sqlite', file: dataFolder.databaseFile }
  if (setting.startsWith('file:')) return { kind: 'sqlite', file: resolve(setting.slice('file:'.length)) }
  if (/^postgres(ql)?:\/\//.test(setting)) return { kind: 'postgres', url: setting }
  throw new Fault('bad_input', 'store must be file:PATH or postgres://user@host/database')
}

/** Returns the setting as people may see it. */
export function withoutPassword(setting: string): string {
  if (!/^postgres(ql)?:/.test(setting) || !URL.canParse(setting)) return setting
  const url = new URL(setting)
  if (url.password !== '') url.password = '…'
  return decodeURI(url.href)
}

export async function openStore(location: StoreLocation, crashPoint?: CrashPoint): Promise<Store> {
  const options = crashPoint ? { crashPoint } : {}
  const { openPostgres, openSqlite } = await import('@holdpoint/store')
  return location.kind === 'postgres'
    ? openPostgres({ url: location.url, ...options })
    : openSqlite({ file: location.file, ...options })
}
