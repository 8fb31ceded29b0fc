/** Keeps the rules and watchers of `holdpoint.rules.json` files in the store, so that they count, change and are recorded like other rules, on every gateway. A file that cannot be used never makes the rules less strict. */
import { hash } from 'node:crypto'
import {
  canonicalJson,
  formatId,
  limits,
  type Rule,
  type RuleDraft,
  type RuleId,
  type RunnerId,
} from '@holdpoint/protocol'
import { type RuleFileContent, ruleFileName } from '@holdpoint/rules'
import type { ChangeBuilder } from './change-builder.ts'
import type { Context } from './context.ts'
import type { RuleRow, WatchFileRow } from './rows.ts'
import { putRule, takeRule } from './rule-changes.ts'
import { newVersion, type WantedWatchFile, wantedWatchFiles } from './watch/watch-files.ts'

/** The facts about one file. */
export interface RuleFile {
  readonly file: string
  /** The folder of a project's file, in which its rules apply; null for the person's own file, whose rules apply everywhere. */
  readonly folder: string | null
  /** Whether a person has trusted exactly this content, an earlier content, or none. */
  readonly trust: 'trusted' | 'changed' | 'new'
  readonly content:
    | ({ readonly kind: 'rules' } & RuleFileContent)
    | { readonly kind: 'problem'; readonly problem: string }
    | { readonly kind: 'missing' }
}

/** Reads the files of this machine. */
export interface RuleFileReader {
  /** The path of the person's own file. */
  readonly ownFile: string
  /** Returns the paths at which a project's file may be for a session in this folder: in the folder and in all folders above, with a limited number of files that exist. */
  filesFor(folder: string): readonly string[]
  /** Returns the same object as before while neither the file nor the trust in it has changed. */
  read(file: string): RuleFile
}

const foldersMax = 100

/** Brings the stored rules in line with the files: at the start, before rules are evaluated for a session, and at every sweep. */
export class RuleFiles {
  readonly #ctx: Context
  readonly #reader: RuleFileReader
  readonly #runner: RunnerId
  /** The state of each file whose rules are stored; null if it is not known yet. */
  readonly #stored = new Map<string, RuleFile | null>()
  /** The folders in which sessions have asked lately, the latest last. */
  readonly #folders = new Set<string>()
  #running: Promise<void> = Promise.resolve()

  constructor(ctx: Context, reader: RuleFileReader, runner: RunnerId) {
    this.#ctx = ctx
    this.#reader = reader
    this.#runner = runner
  }

  /** Brings the rules of all known files up to date, because files may have changed while the gateway was stopped. */
  async start(): Promise<void> {
    for (const row of await this.#ctx.store.find('rule', {}))
      if (this.#isOurs(row)) this.#stored.set(row.source.file, null)
    for (const { runner, source } of await this.#ctx.store.find('watchfile', {}))
      if (runner === this.#runner) this.#stored.set(source.file, null)
    await this.refreshAll()
  }

  /** Brings the rules for a folder up to date, or only those of the person's own file if the folder is null. If no file has changed, this method only looks at the files. */
  async refresh(folder: string | null): Promise<void> {
    if (folder === null) return this.#update([this.#reader.ownFile])
    this.#folders.delete(folder)
    this.#folders.add(folder)
    const [oldest] = this.#folders
    if (this.#folders.size > foldersMax && oldest !== undefined) this.#folders.delete(oldest)
    await this.#update([this.#reader.ownFile, ...this.#reader.filesFor(folder)])
  }

  async refreshAll(): Promise<void> {
    const files = [...this.#folders].flatMap(folder => this.#reader.filesFor(folder))
    await this.#update([...new Set([this.#reader.ownFile, ...files, ...this.#stored.keys()])])
  }

  async #update(files: readonly string[]): Promise<void> {
    const changed = files.filter(file => this.#hasChanged(file))
    if (changed.length === 0) return
    // Updates run one at a time, because each compares a file with the stored rules.
    const previous = this.#running
    const update = previous.then(async () => {
      for (const file of changed) if (this.#hasChanged(file)) await this.#store(this.#reader.read(file))
    })
    // The caller of a failed update gets its error. The next update runs anyway.
    this.#running = update.catch(() => {})
    await update
  }

  #hasChanged(file: string): boolean {
    const now = this.#reader.read(file)
    const before = this.#stored.get(file)
    return before === undefined ? now.content.kind !== 'missing' : now !== before
  }

  #isOurs(row: RuleRow): row is RuleRow & { source: NonNullable<Rule['source']> } {
    return row.source?.runner === this.#runner
  }

  async #store(state: RuleFile): Promise<void> {
    const rows = await this.#ctx.store.find('rule', {})
    const before = rows.filter(row => this.#isOurs(row) && row.source.file === state.file)
    const fitted = fitting(state, rows.length - before.length)
    const wanted = wantedRules(fitted, before, this.#runner)
    const ids = new Set([...before.map(({ id }) => id), ...wanted.keys()])
    const watchBefore = (await this.#ctx.store.find('watchfile', {})).filter(
      ({ runner, source }) => runner === this.#runner && source.file === state.file,
    )
    const watchFiles = wantedWatchFiles(fitted, watchBefore, this.#runner)
    const watchIds = new Set([...watchBefore.map(({ id }) => id), ...watchFiles.keys()])
    await this.#ctx.commit({
      label: 'ruleFile',
      reads: [
        ...[...ids].flatMap(id => [{ table: 'rule', id } as const, { table: 'ruleuse', id } as const]),
        ...[...watchIds].map(id => ({ table: 'watchfile', id }) as const),
      ],
      decide: change => {
        for (const id of ids) applyRule(change, id, wanted.get(id))
        for (const id of watchIds) applyWatchFile(change, id, watchFiles.get(id), watchBefore)
        return { status: 200, body: {} }
      },
    })
    if (state.content.kind === 'missing' && wanted.size + watchFiles.size === 0) this.#stored.delete(state.file)
    else this.#stored.set(state.file, state)
  }
}

type FileRule = RuleDraft & { readonly source: NonNullable<Rule['source']> }

function applyRule(change: ChangeBuilder, id: RuleId, wanted: FileRule | undefined): void {
  const stored = change.get('rule', id)
  if (!wanted) {
    if (stored) takeRule(change, id)
  } else if (!stored)
    putRule(
      change,
      { ...wanted, id, madeBy: ruleFileName, madeAt: change.now, version: 1, ord: change.nextSeq },
      'rule.added',
    )
  else if (canonicalJson(stored.source) !== canonicalJson(wanted.source))
    putRule(change, { ...stored, source: wanted.source, version: stored.version + 1 }, 'rule.changed')
}

function applyWatchFile(
  change: ChangeBuilder,
  id: string,
  wanted: WantedWatchFile | undefined,
  before: readonly WatchFileRow[],
): void {
  const stored = change.get('watchfile', id)
  if (!wanted) {
    if (stored) change.delete('watchfile', id)
  } else if (wanted.version === null || stored?.version !== wanted.version) {
    const version = wanted.version ?? newVersion(change, before)
    change.put('watchfile', { ...wanted, version, ord: change.nextSeq })
  }
}

/** Returns the state, or a problem if the gateway would have too many rules. */
function fitting(state: RuleFile, others: number): RuleFile {
  if (state.content.kind !== 'rules' || others + state.content.rules.length <= limits.rulesMax) return state
  const problem = `There would be more than ${limits.rulesMax} rules. Remove some.`
  return { ...state, content: { kind: 'problem', problem } }
}

/**
 * Returns the rules that a file should have in the store, by id.
 * The rules of a trusted version that deny or ask stay until a person trusts the changed file or takes the trust back, and those of any version stay while the file cannot be used.
 */
function wantedRules(
  { file, folder, trust, content }: RuleFile,
  before: readonly RuleRow[],
  runner: RunnerId,
): ReadonlyMap<RuleId, FileRule> {
  const source = { file, trusted: folder === null || trust === 'trusted', project: folder !== null, runner }
  const wanted = new Map<RuleId, FileRule>()
  const idOf = (rule: RuleDraft) => formatId('rul', hash('sha256', canonicalJson([runner, file, rule]), 'buffer'))
  if (content.kind === 'rules') for (const rule of content.rules) wanted.set(idOf(rule), { ...rule, source })
  for (const { id, ...row } of before) {
    const isKept = content.kind === 'problem' || (trust === 'changed' && row.source?.trusted === true)
    if (isKept && row.effect !== 'allow' && row.source?.problem === undefined)
      wanted.set(id, { ...row, source: { ...source, trusted: row.source?.trusted ?? false } })
  }
  if (content.kind === 'problem') {
    const rule: RuleDraft = {
      effect: 'ask',
      note: `${file} cannot be used, so a person decides about every call${folder === null ? '' : ' in this folder'}`,
      ...(folder === null ? {} : { scope: { cwd: folder } }),
    }
    wanted.set(idOf(rule), { ...rule, source: { ...source, problem: content.problem } })
  }
  return wanted
}
