/** Checks the variables, the watchers and the ready-made watchers of `holdpoint.rules.json`. Each problem is reported with its line and column. */
import {
  type JsonPath,
  limits,
  type ReadyMadeUse,
  type RuleFileText,
  type VariableDeclaration,
  type WatcherDraft,
} from '@holdpoint/protocol'
import { isInside, joinPath } from '../paths.ts'
import { compileWatcher, WatcherProblem } from './compiled-watcher.ts'
import { defaultOf } from './condition-names.ts'
import { ConditionProblem, fileWorkMax } from './condition-work.ts'
import { Conditions } from './conditions.ts'
import { expandReadyMade, SettingProblem } from './ready-made.ts'
import { watchTexts } from './texts.ts'
import type { FileWatcher } from './watch-pass.ts'

export interface WatchContent {
  readonly vars: Readonly<Record<string, VariableDeclaration>>
  readonly watchers: readonly FileWatcher[]
}

/** A watcher, and the place in the file at which its problems are reported. */
interface Placed {
  readonly watcher: FileWatcher
  readonly path: JsonPath
}

/** Returns the variables and watchers of a file, those of `use` first. Throws a Fault that says where the problem is and what to do. */
export function checkWatchers(file: RuleFileText, folder: string | null): WatchContent {
  const used = file.use.flatMap((use, index) => expand(file, use, index))
  const usedVars = Object.assign({}, ...used.map(({ vars }) => vars))
  checkVariables(file, usedVars)
  const vars: Readonly<Record<string, VariableDeclaration>> = { ...usedVars, ...file.vars }
  const placed: readonly Placed[] = [
    ...used.flatMap(({ watchers, path }) => watchers.map(watcher => ({ watcher, path }))),
    ...file.watch.map((watcher, index) => ({ watcher, path: ['watch', index] })),
  ].map(({ watcher, path }) => ({ watcher: scoped(file, watcher, path, folder), path }))
  checkNames(file, placed)
  compileAll(file, placed, vars)
  return { vars, watchers: placed.map(({ watcher }) => watcher) }
}

function expand(
  file: RuleFileText,
  use: ReadyMadeUse,
  index: number,
): readonly (WatchContent & { readonly path: JsonPath })[] {
  const path = ['use', index]
  const name = nameOf(use)
  const earlier = file.use.slice(0, index).filter(each => nameOf(each) === name)
  if (earlier.some(each => folderOf(each) === folderOf(use))) throw file.problemAt(path, watchTexts.usedTwice(name))
  try {
    return [{ ...expandReadyMade(use, earlier.length), path }]
  } catch (error) {
    if (!(error instanceof SettingProblem)) throw error
    throw file.problemAt(typeof use === 'string' ? path : [...path, ...error.path], error.message)
  }
}

function nameOf(use: ReadyMadeUse): string {
  return typeof use === 'string' ? use : use.name
}
function folderOf(use: ReadyMadeUse): string | undefined {
  return typeof use === 'string' ? undefined : use.cwd
}

/** Names that every object has. A variable with such a name could be read although it is not declared. */
const objectNames = new Set(Object.getOwnPropertyNames(Object.prototype))

function checkVariables(file: RuleFileText, usedVars: Readonly<Record<string, VariableDeclaration>>): void {
  const names = Object.keys(file.vars)
  if (names.length > limits.variablesPerFileMax)
    throw file.problemAt(['vars'], watchTexts.tooManyVariables(limits.variablesPerFileMax))
  const conditions = new Conditions(file.vars)
  for (const name of names) {
    if (objectNames.has(name) || !isReadable(name, conditions))
      throw file.problemAt(['vars', name], watchTexts.variableNameTaken(name))
    if (Object.hasOwn(usedVars, name)) {
      const owner = file.use.map(nameOf).find(use => Object.hasOwn(expandReadyMade(use, 0).vars, name)) ?? ''
      throw file.problemAt(['vars', name], watchTexts.nameOfReadyMade(name, owner))
    }
  }
  const defaults = Object.values(file.vars).map(defaultOf)
  if (new TextEncoder().encode(JSON.stringify([names, defaults])).length > limits.variablesMaxBytes)
    throw file.problemAt(['vars'], watchTexts.variablesTooLarge(limits.variablesMaxBytes))
}

/** Returns whether conditions can read the variable. They cannot if its name is a word of CEL, such as `in`. */
function isReadable(name: string, conditions: Conditions): boolean {
  try {
    conditions.compile(`vars.${name}`, 'start')
    return true
  } catch (error) {
    if (error instanceof ConditionProblem) return false
    throw error
  }
}

/** A watcher of a project's file is for the project's folder, or for a folder in it that it names. */
function scoped(file: RuleFileText, watcher: FileWatcher, path: JsonPath, folder: string | null): FileWatcher {
  const cwd = watcher.scope?.cwd
  if (folder === null) {
    if (cwd !== undefined && !cwd.startsWith('/')) throw file.problemAt(path, watchTexts.relativeFolder(cwd))
    return watcher
  }
  const resolved = joinPath(folder, cwd ?? '.')
  if (!isInside(resolved, folder)) throw file.problemAt([...path, 'scope', 'cwd'], watchTexts.leadsOut(folder))
  return { ...watcher, scope: { ...watcher.scope, cwd: resolved } }
}

function checkNames(file: RuleFileText, placed: readonly Placed[]): void {
  if (placed.length > limits.watchersPerFileMax)
    throw file.problemAt(['use'], watchTexts.tooManyWatchers(limits.watchersPerFileMax))
  const known = new Map<string, string | undefined>()
  for (const { watcher, path } of placed) {
    const { name, readyMade } = watcher
    const owner = known.get(name)
    if (owner !== undefined) throw file.problemAt([...path, 'name'], watchTexts.nameOfReadyMade(name, owner))
    if (known.has(name)) throw file.problemAt([...path, 'name'], watchTexts.duplicateName(name))
    known.set(name, readyMade)
  }
}

function compileAll(
  file: RuleFileText,
  placed: readonly Placed[],
  vars: Readonly<Record<string, VariableDeclaration>>,
): void {
  const conditions = new Conditions(vars)
  let work = 0
  for (const { watcher, path } of placed) {
    work += compilePlaced(file, watcher, path, vars, conditions)
    if (work > fileWorkMax) throw file.problemAt(path, watchTexts.fileTooMuchWork)
  }
}

function compilePlaced(
  file: RuleFileText,
  watcher: WatcherDraft & { readonly readyMade?: string },
  path: JsonPath,
  vars: Readonly<Record<string, VariableDeclaration>>,
  conditions: Conditions,
): number {
  try {
    return compileWatcher(watcher, vars, conditions).work
  } catch (error) {
    if (!(error instanceof WatcherProblem)) throw error
    // A ready-made watcher is not written in the file, so its problems are reported for its entry in "use".
    if (watcher.readyMade !== undefined) throw file.problemAt(path, error.message)
    throw file.problemAt([...path, ...error.path], error.message, error.index)
  }
}
