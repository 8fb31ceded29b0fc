/** Reads the files with rules of this machine: the person's own file in the data folder, and the files of projects, which are trusted by path and content. */
import { createHash } from 'node:crypto'
import { type BigIntStats, existsSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { RuleFile, RuleFileReader } from '@holdpoint/engine'
import { messageOf } from '@holdpoint/protocol'
import { parseRuleFile, ruleFileName } from '@holdpoint/rules'
import { readRegularFile } from './config-file.ts'
import type { DataFolder } from './data-folder.ts'
import { type AccessProblem, accessProblem } from './file-access.ts'
import { rulesFileTexts } from './texts.ts'
import { trustedFiles, trustStateOf } from './trust.ts'

export interface RulesFile extends RuleFile {
  /** The hash of the content; null if there is no file or it cannot be read. */
  readonly sha256: string | null
  /** The reason why an existing file is ignored: another user could have written it. */
  readonly exposure?: AccessProblem
}

/** The gateway reads all files of a folder before it answers a call there, so their number and size are limited. */
const filesMax = 10
const bytesMax = 64 * 1024

/**
 * Returns the path of a project's file in a folder and in each folder above. All of them apply, so that a file further down cannot allow what a file above it denies.
 * If there are too many, only the uppermost files apply. The next file is listed too: it counts as a mistake, so that Holdpoint asks about every call in its folder and below.
 */
export function rulesFilesFor(folder: string, { rulesFile }: Pick<DataFolder, 'rulesFile'>): readonly string[] {
  const paths = pathsAbove(folder).filter(file => file !== rulesFile)
  const existing = paths.filter(file => existsSync(file))
  const ignored = new Set(existing.slice(0, Math.max(0, existing.length - filesMax - 1)))
  return paths.filter(file => !ignored.has(file))
}

function pathsAbove(folder: string): readonly string[] {
  const paths: string[] = []
  for (let next = folder; ; next = dirname(next)) {
    paths.push(join(next, ruleFileName))
    if (dirname(next) === next) return paths
  }
}

/** Facts other than its content that decide whether a project's file counts. */
interface Standing {
  readonly exposure: AccessProblem | null
  readonly isOneTooMany: boolean
}
const counts: Standing = { exposure: null, isOneTooMany: false }

function standingOf(file: string, { rulesFile }: DataFolder): Standing {
  if (file === rulesFile || !existsSync(file)) return counts
  const above = pathsAbove(dirname(file)).filter(path => path !== rulesFile && path !== file && existsSync(path))
  return { exposure: accessProblem(file), isOneTooMany: above.length >= filesMax }
}

export function readRulesFile(file: string, dataFolder: DataFolder): RulesFile {
  const folder = file === dataFolder.rulesFile ? null : dirname(file)
  try {
    return readStanding(file, folder, dataFolder, standingOf(file, dataFolder))
  } catch (error) {
    return { file, folder, sha256: null, trust: 'changed', content: { kind: 'problem', problem: messageOf(error) } }
  }
}

function readStanding(file: string, folder: string | null, dataFolder: DataFolder, standing: Standing): RulesFile {
  const { exposure, isOneTooMany } = standing
  const bytes = exposure ? null : readRegularFile(file, bytesMax)
  if (bytes === null) {
    const trust = trustedFiles(dataFolder).has(file) ? 'changed' : 'new'
    return { file, folder, sha256: null, trust, content: { kind: 'missing' }, ...(exposure ? { exposure } : {}) }
  }
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  const trust = trustStateOf(dataFolder, { file, sha256 })
  const content: RuleFile['content'] = isOneTooMany
    ? { kind: 'problem', problem: rulesFileTexts.tooManyFiles(filesMax) }
    : contentOf(bytes, folder)
  return { file, folder, sha256, trust, content }
}

function contentOf(bytes: Buffer, folder: string | null): RuleFile['content'] {
  try {
    return { kind: 'rules', ...parseRuleFile(bytes.toString('utf8'), folder) }
  } catch (error) {
    return { kind: 'problem', problem: messageOf(error) }
  }
}

/** A file that was changed less than this long ago is read again, because two changes may have the same time. */
const settleMs = 100

/** Agents choose the folders that are looked at, so only a limited number is cached. */
const knownMax = 5000

/** Reads files again only after they have changed. */
export class CachedRulesFiles implements RuleFileReader {
  readonly #dataFolder: DataFolder
  readonly #onIgnored: (problem: string) => void
  readonly #known = new Map<string, { readonly stamp: string; readonly state: RulesFile }>()

  /** `onIgnored` gets a sentence about each file that is ignored because another user could have written it. */
  constructor(dataFolder: DataFolder, onIgnored: (problem: string) => void = () => {}) {
    this.#dataFolder = dataFolder
    this.#onIgnored = onIgnored
  }

  get ownFile(): string {
    return this.#dataFolder.rulesFile
  }
  filesFor(folder: string): readonly string[] {
    return rulesFilesFor(folder, this.#dataFolder)
  }
  read(file: string): RulesFile {
    const stamp = this.#stampOf(file)
    const known = this.#known.get(file)
    if (known && stamp !== null && known.stamp === stamp) return known.state
    const read = readRulesFile(file, this.#dataFolder)
    const isSame = known !== undefined && JSON.stringify(known.state) === JSON.stringify(read)
    const state = isSame ? known.state : read
    if (this.#known.size >= knownMax) this.#known.clear()
    this.#known.set(file, { stamp: stamp ?? '', state })
    if (state.exposure && !isSame) this.#onIgnored(rulesFileTexts.ignored(file, state.exposure))
    return state
  }

  /** The folders above can change without a change of the file, so their permissions are checked each time. */
  #stampOf(file: string): string | null {
    const stamp = stampOf([file, this.#dataFolder.trustFile])
    try {
      return stamp === null ? null : `${stamp} ${JSON.stringify(standingOf(file, this.#dataFolder))}`
    } catch {
      // A folder in the path cannot be entered. Reading the file reports why.
      return null
    }
  }
}

/** Returns a text that differs after any of the files has changed, or null if one of them changed a moment ago, because a second change within that moment might not be noticed. */
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
    // A folder in the path cannot be entered. Reading the file reports why.
    return null
  }
}
