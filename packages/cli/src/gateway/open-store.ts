/** Which archive a setting names. */
import { resolve } from 'node:path'
import type { CrashPoint, Store } from '@holdpoint/engine'
import { Fault } from '@holdpoint/protocol'
import type { DataFolder } from '../config/data-folder.ts'

export type StoreLocation =
  | { readonly kind: 'sqlite'; readonly file: string }
  | { readonly kind: 'postgres'; readonly url: string }

export function parseStoreLocation(setting: string | undefined, home: DataFolder): StoreLocation {
  if (setting === undefined) return { kind: 'sqlite', file: home.databaseFile }
  if (setting.startsWith('file:')) return { kind: 'sqlite', file: resolve(setting.slice('file:'.length)) }
  if (/^postgres(ql)?:\/\//.test(setting)) return { kind: 'postgres', url: setting }
  throw new Fault('bad_input', 'store must be file:PATH or postgres://user@host/database')
}

export async function openStore(name: StoreLocation, crashPoint?: CrashPoint): Promise<Store> {
  const given = crashPoint ? { crashPoint } : {}
  if (name.kind === 'postgres') {
    const { openPostgres } = await import('@holdpoint/store')
    return openPostgres({ url: name.url, ...given })
  }
  const { openSqlite } = await import('@holdpoint/store')
  return openSqlite({ file: name.file, ...given })
}
