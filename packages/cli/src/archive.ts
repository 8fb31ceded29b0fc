/** Which archive a setting names. */
import { resolve } from 'node:path'
import type { CrashPoint, Store } from '@holdpoint/engine'
import { Fault } from '@holdpoint/protocol'
import type { Home } from './home.ts'

export type ArchiveName =
  | { readonly kind: 'sqlite'; readonly file: string }
  | { readonly kind: 'postgres'; readonly url: string }

export function nameArchive(setting: string | undefined, home: Home): ArchiveName {
  if (setting === undefined) return { kind: 'sqlite', file: home.archive }
  if (setting.startsWith('file:')) return { kind: 'sqlite', file: resolve(setting.slice('file:'.length)) }
  if (/^postgres(ql)?:\/\//.test(setting)) return { kind: 'postgres', url: setting }
  throw new Fault('bad_input', 'store must be file:PATH or postgres://user@host/database')
}

export async function openArchive(name: ArchiveName, crashPoint?: CrashPoint): Promise<Store> {
  const given = crashPoint ? { crashPoint } : {}
  if (name.kind === 'postgres') {
    const { openPostgres } = await import('@holdpoint/store')
    return openPostgres({ url: name.url, ...given })
  }
  const { openSqlite } = await import('@holdpoint/store')
  return openSqlite({ file: name.file, ...given })
}
