/** Reads the files with rules of this machine: the person's own one in the data folder, and those of projects, which count as trusted by path and content. */
import { createHash } from 'node:crypto'
import { type BigIntStats, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { RuleFile, RuleFileReader } from '@holdpoint/engine'
import { messageOf } from '@holdpoint/protocol'
import { parseRuleFile, ruleFileName } from '@holdpoint/rules'
import { readRegularFile } from './config-file.ts'
import type { DataFolder } from './data-folder.ts'
import { trustedFiles, trustStateOf } from './trust.ts'

export interface RulesFile extends RuleFile {
  /** The hash of the content; null if there is no file or it cannot be read. */
  readonly sha256: string | null
}

/** Returns the path of a project's file in a folder and in each folder above. All of them apply, so that a file further down cannot take back what one above it denies. */
export function rulesFilesFor(folder: string, { rulesFile }: Pick<DataFolder, 'rulesFile'>): readonly string[] {
  const above = dirname(folder)
  const file = join(folder, ruleFileName)
  return [...(file === rulesFile ? [] : [file]), ...(above === folder ? [] : rulesFilesFor(above, { rulesFile }))]
}

export function readRulesFile(file: string, dataFolder: DataFolder): RulesFile {
  const folder = file === dataFolder.rulesFile ? null : dirname(file)
  try {
    const bytes = readRegularFile(file)
    if (bytes === null) {
      const trust = trustedFiles(dataFolder).has(file) ? 'changed' : 'new'
      return { file, folder, sha256: null, trust, content: { kind: 'missing' } }
    }
    const sha256 = createHash('sha256').update(bytes).digest('hex')
    return {
      file,
      folder,
      sha256,
      trust: trustStateOf(dataFolder, { file, sha256 }),
      content: contentOf(bytes, folder),
    }
  } catch (error) {
    return { file, folder, sha256: null, trust: 'changed', content: { kind: 'problem', problem: messageOf(error) } }
  }
}

function contentOf(bytes: Buffer, folder: string | null): RuleFile['content'] {
  try {
    return { kind: 'rules', rules: parseRuleFile(bytes.toString('utf8'), folder) }
  } catch (error) {
    return { kind: 'problem', problem: messageOf(error) }
  }
}

/** A file that was changed less than this long ago is read again, because two changes may have the same time. */
const settleMs = 100

/** Agents choose the folders that are looked at, so only so many are remembered. */
const knownMax = 5000

/** Reads files again only after they have changed. */
export class CachedRulesFiles implements RuleFileReader {
  readonly #dataFolder: DataFolder
  readonly #known = new Map<string, { readonly stamp: string; readonly state: RulesFile }>()

  constructor(dataFolder: DataFolder) {
    this.#dataFolder = dataFolder
  }

  get ownFile(): string {
    return this.#dataFolder.rulesFile
  }
  filesFor(folder: string): readonly string[] {
    return rulesFilesFor(folder, this.#dataFolder)
  }
  read(file: string): RulesFile {
    const stamp = stampOf([file, this.#dataFolder.trustFile])
    const known = this.#known.get(file)
    if (known && stamp !== null && known.stamp === stamp) return known.state
    const read = readRulesFile(file, this.#dataFolder)
    const isSame = known !== undefined && JSON.stringify(known.state) === JSON.stringify(read)
    const state = isSame ? known.state : read
    if (this.#known.size >= knownMax) this.#known.clear()
    this.#known.set(file, { stamp: stamp ?? '', state })
    return state
  }
}

/** Returns a text that changes with each of the files, or null if one of them has just been changed. */
function stampOf(files: readonly string[]): string | null {
  const stats = files.map(statsOf)
  const settled = Date.now() - settleMs
  if (stats.some(known => known && Number(known.ctimeMs) > settled)) return null
  return stats.map(known => (known ? `${known.dev}:${known.ino}:${known.size}:${known.ctimeNs}` : 'missing')).join(' ')
}

function statsOf(file: string): BigIntStats | null {
  try {
    return statSync(file, { bigint: true, throwIfNoEntry: false }) ?? null
  } catch {
    // A folder on the way cannot be entered. Reading the file reports why.
    return null
  }
}
