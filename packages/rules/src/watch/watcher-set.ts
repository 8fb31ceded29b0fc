/** Evaluates watchers in one pure pass: all watchers of a moment see the same facts, and then their effects are merged. An error never allows. */
import { limits, type VariableValue, type WatcherRef, type WatchLimit, type WatchMoment } from '@holdpoint/protocol'
import { isInside } from '../paths.ts'
import { type CompiledWatcher, compileWatcher, type WatchEffect, WatcherProblem } from './compiled-watcher.ts'
import { variableFacts, type WatchFacts } from './condition-names.ts'
import { durationMs } from './condition-work.ts'
import { Conditions, evaluationProblem } from './conditions.ts'
import { watchTexts } from './texts.ts'
import { PassFacts } from './watch-facts.ts'
import { type Matchable, WatchMatching } from './watch-matching.ts'
import {
  allowedAmount,
  type FileWatcher,
  type Firing,
  type WatchFile,
  type WatchPass,
  type WatchResult,
} from './watch-pass.ts'

interface Entry extends Matchable {
  readonly ref: WatcherRef
  readonly conditions: Conditions
  /** Null if this version cannot use the watcher, although an earlier one could. */
  readonly compiled: CompiledWatcher | null
}

/** What one watcher does in a pass. */
interface Outcome {
  readonly firing: Firing
  readonly verdict: 'deny' | 'ask' | null
  readonly reason: string
  readonly say: string | null
}

/** Where a session runs. */
export type SessionPlace = Pick<WatchPass['context'], 'driver' | 'folder' | 'runner'>

function isForPlace({ runner }: WatchFile, { scope }: FileWatcher, session: SessionPlace): boolean {
  if (scope?.driver !== undefined && scope.driver !== session.driver) return false
  if (runner !== undefined && session.runner !== null && runner !== session.runner) return false
  return scope?.cwd === undefined || (session.folder !== null && isInside(session.folder, scope.cwd))
}

const everyMoment: readonly WatchMoment[] = ['start', 'prompt', 'before', 'after', 'stop']

/** The watchers of some files, compiled once for many passes. */
export class WatcherSet {
  readonly files: readonly WatchFile[]
  /** Over what limits count: a session, a day or a folder. A pass needs only these totals. */
  readonly totals: ReadonlySet<NonNullable<WatchLimit['per']>>
  readonly #byMoment: ReadonlyMap<WatchMoment, WatchMatching<Entry>>

  constructor(files: readonly WatchFile[]) {
    this.files = files
    const entries = files.flatMap(entriesOf)
    this.totals = new Set(entries.flatMap(({ compiled }) => (compiled?.limit ? [compiled.limit.per] : [])))
    const byMoment = everyMoment.map(
      moment => [moment, entries.filter(({ watcher }) => watcher.on === moment)] as const,
    )
    this.#byMoment = new Map(
      byMoment.flatMap(([moment, items]) =>
        items.length === 0 ? [] : [[moment, new WatchMatching(items, moment)] as const],
      ),
    )
  }

  /** Returns whether any watcher is for this moment. */
  has(moment: WatchMoment): boolean {
    return this.#byMoment.has(moment)
  }

  /** Returns the watchers for sessions like this one. Matchers and conditions are not considered. */
  listFor(session: SessionPlace): readonly { readonly file: WatchFile; readonly watcher: FileWatcher }[] {
    return this.files.flatMap(file =>
      file.watchers.flatMap(watcher => (isForPlace(file, watcher, session) ? [{ file, watcher }] : [])),
    )
  }

  evaluate(pass: WatchPass): WatchResult {
    const facts = new PassFacts(pass)
    const ofFile = new Map<WatchFile, WatchFacts>()
    const outcomes = pass.moments.flatMap(moment =>
      (this.#byMoment.get(moment)?.find(pass) ?? []).flatMap(({ item, isCertain }) => {
        const fileFacts = ofFile.get(item.file) ?? factsOf(item, pass, facts)
        ofFile.set(item.file, fileFacts)
        return outcomeOf(item, isCertain, pass, facts, fileFacts) ?? []
      }),
    )
    return merge(withinSize(outcomes, this.files, pass))
  }
}

function entriesOf(file: WatchFile): readonly Entry[] {
  const conditions = new Conditions(file.vars)
  return file.watchers.map(watcher => ({
    file,
    watcher,
    ref: { name: watcher.name, file: file.source.file, version: file.version },
    conditions,
    compiled: compiledOrNull(watcher, file, conditions),
  }))
}

function compiledOrNull(watcher: FileWatcher, { vars }: WatchFile, conditions: Conditions): CompiledWatcher | null {
  try {
    return compileWatcher(watcher, vars, conditions)
  } catch (error) {
    if (error instanceof WatcherProblem) return null
    throw error
  }
}

function factsOf({ file, conditions }: Entry, pass: WatchPass, facts: PassFacts): WatchFacts {
  conditions.lookBackWith(withinMs => facts.recent(withinMs))
  return { ...facts.shared, vars: variableFacts(file.vars, pass.values(file)) }
}

function outcomeOf(
  entry: Entry,
  isCertain: boolean,
  pass: WatchPass,
  facts: PassFacts,
  fileFacts: WatchFacts,
): Outcome | null {
  const { watcher, file } = entry
  const fired = pass.fired(file, watcher.name)
  if (fired && watcher.times !== undefined && fired.count >= watcher.times) return null
  if (fired && watcher.every !== undefined && pass.context.now - fired.lastAt < (durationMs(watcher.every) ?? 0))
    return null
  try {
    return evaluated(entry, isCertain, pass, facts, fileFacts)
  } catch (error) {
    return failed(entry, evaluationProblem(error))
  }
}

function evaluated(
  entry: Entry,
  isCertain: boolean,
  pass: WatchPass,
  facts: PassFacts,
  fileFacts: WatchFacts,
): Outcome | null {
  const { watcher, file, compiled } = entry
  if (!compiled) throw new Error(watchTexts.notReadable(watcher.name))
  if (compiled.readsCommand && facts.hasLongCommand) throw new Error(watchTexts.commandTooLong)
  if (compiled.when && compiled.when.evaluate(fileFacts) !== true) return null
  const limit = compiled.limit && reachedLimit(compiled.limit, entry, pass)
  if (compiled.limit && !limit) return null
  if (!isCertain) throw new Error(watchTexts.callTooLong)
  const isTrusted = file.source.trusted
  const set = newValues(compiled, fileFacts)
  const say = isTrusted ? (compiled.say?.fill(fileFacts) ?? null) : null
  const deny =
    compiled.deny && (isTrusted ? compiled.deny.fill(fileFacts) : watchTexts.untrustedDenies(file.source.file))
  const ask = compiled.ask && (isTrusted ? compiled.ask.fill(fileFacts) : watchTexts.untrustedAsks(file.source.file))
  const reason = [deny ?? ask, limit?.text].filter(text => typeof text === 'string').join(' ')
  const effects: WatchEffect[] = []
  if (set) effects.push('set')
  if (say !== null) effects.push('say')
  if (ask !== null) effects.push('ask')
  if (deny !== null) effects.push('deny')
  if (limit) effects.push('limit')
  if (effects.length === 0) return null
  const texts = [reason, say ?? ''].filter(text => text !== '')
  return {
    firing: {
      file,
      watcher: entry.ref,
      moment: watcher.on,
      effects,
      ...(texts.length > 0 ? { text: texts.join('\n') } : {}),
      ...(set ? { set } : {}),
      ...(limit ? { limit: { used: limit.used, next: limit.next } } : {}),
    },
    verdict: deny !== null ? 'deny' : ask !== null || limit ? 'ask' : null,
    reason,
    say,
  }
}

/** If a watcher that would deny or ask cannot be evaluated, it asks. A message cannot wait for a person, so it is refused. */
function failed({ file, watcher, ref }: Entry, problem: string): Outcome {
  const firing: Firing = { file, watcher: ref, moment: watcher.on, effects: [], problem }
  const { deny, ask, limit } = watcher.do
  if (deny === undefined && ask === undefined && limit === undefined)
    return { firing, verdict: null, reason: '', say: null }
  const verdict = watcher.on === 'prompt' ? 'deny' : 'ask'
  const sentence = verdict === 'deny' ? watchTexts.couldNotJudgePrompt : watchTexts.couldNotJudge
  const reason = file.source.trusted ? sentence(watcher.name, problem) : watchTexts.untrustedProblem(file.source.file)
  return { firing: { ...firing, effects: [verdict], text: reason }, verdict, reason, say: null }
}

function reachedLimit(
  { unit, amount, per }: NonNullable<CompiledWatcher['limit']>,
  { file, watcher }: Entry,
  pass: WatchPass,
): { readonly used: number; readonly next: number; readonly text: string } | null {
  const used = pass.spent(per)[unit]
  const fired = pass.fired(file, watcher.name)
  const allowed = allowedAmount(per, fired, pass.context.now) ?? amount
  if (used < allowed) return null
  const next = allowed + amount * (Math.floor((used - allowed) / amount) + 1)
  return { used, next, text: watchTexts.limitReached(unit, per, used, allowed, next) }
}

function newValues({ set }: CompiledWatcher, facts: WatchFacts): Readonly<Record<string, VariableValue>> | null {
  if (set.length === 0) return null
  return Object.fromEntries(set.map(({ name, value }) => [name, storedValue(name, value.evaluate(facts))]))
}

/** Returns a value of a condition as it is stored. Throws if it is too large. */
function storedValue(name: string, value: unknown): VariableValue {
  if (typeof value === 'boolean') return value
  if (typeof value === 'string' && value.length <= limits.variableTextMax) return value
  if (typeof value === 'number' && Number.isFinite(value)) return value
  if (typeof value === 'bigint' && Number.isSafeInteger(Number(value))) return Number(value)
  throw new Error(watchTexts.valueTooLarge(name))
}

/** If the variables of the session would become too large, no text is stored in this pass. */
function withinSize(outcomes: readonly Outcome[], files: readonly WatchFile[], pass: WatchPass): readonly Outcome[] {
  const setsText = ({ firing }: Outcome) => Object.values(firing.set ?? {}).some(value => typeof value === 'string')
  if (!outcomes.some(setsText)) return outcomes
  const values = files.map(file => {
    const set = outcomes.filter(({ firing }) => firing.file === file).map(({ firing }) => firing.set ?? {})
    return Object.assign({}, pass.values(file), ...set)
  })
  if (new TextEncoder().encode(JSON.stringify(values)).length <= limits.variablesMaxBytes) return outcomes
  return outcomes.map(outcome => {
    if (!setsText(outcome)) return outcome
    const { set: _, effects, ...rest } = outcome.firing
    const problem = watchTexts.variablesFull(limits.variablesMaxBytes)
    return { ...outcome, firing: { ...rest, effects: effects.filter(effect => effect !== 'set'), problem } }
  })
}

function merge(outcomes: readonly Outcome[]): WatchResult {
  const deciding = ['deny', 'ask'].map(verdict => outcomes.filter(outcome => outcome.verdict === verdict))
  const winners = deciding.find(list => list.length > 0) ?? []
  return {
    verdict: winners[0]?.verdict ?? null,
    reason: joined(winners.map(({ reason }) => reason)),
    watcher: winners[0]?.firing.watcher ?? null,
    say: outcomes.flatMap(({ say }) => say ?? []),
    firings: outcomes.map(({ firing }) => firing),
  }
}

/** Joins sentences. What would make the text too long is left out. */
function joined(sentences: readonly string[]): string {
  let text = ''
  for (const sentence of new Set(sentences)) {
    const next = text === '' ? sentence : `${text}\n${sentence}`
    if (next.length <= limits.reasonMax) text = next
  }
  return text
}
