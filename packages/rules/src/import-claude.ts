/** Converts the permission settings of Claude Code into rules, and says which entries cannot be converted safely. */
import type { RuleDraft, RuleEffect } from '@holdpoint/protocol'
import { joinPath } from './paths.ts'
import { ruleProblem } from './rule-validation.ts'

/** The part of a settings file that holds permissions. */
export interface ClaudePermissions {
  readonly allow?: readonly string[]
  readonly ask?: readonly string[]
  readonly deny?: readonly string[]
}
export interface ImportOptions {
  /** The folder for which the rules are made, and from which relative paths start. */
  readonly folder: string
  readonly home: string
}
export interface ImportedEntry {
  readonly effect: RuleEffect
  /** The entry as it is written in the settings. */
  readonly entry: string
  /** The rule; null if the entry cannot be converted. */
  readonly rule: RuleDraft | null
  /** The difference from the entry, or the reason why it cannot be converted. */
  readonly remark: string | null
}

export function importClaudePermissions(
  permissions: ClaudePermissions,
  options: ImportOptions,
): readonly ImportedEntry[] {
  return (['deny', 'ask', 'allow'] as const).flatMap(effect =>
    (permissions[effect] ?? []).map(entry => importEntry(effect, entry, options)),
  )
}

function importEntry(effect: RuleEffect, entry: string, options: ImportOptions): ImportedEntry {
  const [, tool = '', , specifier] = /^([\w-]+)(\((.*)\))?$/s.exec(entry) ?? []
  if (tool === '') return { effect, entry, rule: null, remark: 'Holdpoint does not know this kind of entry.' }
  const target = targetOf(effect, tool, specifier, options)
  if (typeof target === 'string') return { effect, entry, rule: null, remark: target }
  const { remark = null, ...match } = target
  const rule: RuleDraft = {
    effect,
    ...match,
    scope: { cwd: options.folder },
    note: `Imported from Claude Code: ${entry}`,
  }
  const problem = ruleProblem(rule)
  return problem ? { effect, entry, rule: null, remark: problem } : { effect, entry, rule, remark }
}

type Target = Omit<RuleDraft, 'effect' | 'scope' | 'note'> & { readonly remark?: string }

const fileTools: Readonly<Record<string, 'read' | 'write'>> = {
  Read: 'read',
  Grep: 'read',
  Glob: 'read',
  LS: 'read',
  Edit: 'write',
  Write: 'write',
  MultiEdit: 'write',
  NotebookEdit: 'write',
}

/** Returns what the rule matches, or why the entry cannot be converted. */
function targetOf(
  effect: RuleEffect,
  tool: string,
  specifier: string | undefined,
  options: ImportOptions,
): Target | string {
  const [prefix, server, ...rest] = tool.split('__')
  if (prefix === 'mcp' && server) return { mcp: { server, ...(rest.length > 0 ? { tool: rest.join('__') } : {}) } }
  if (tool === 'Bash')
    return specifier === undefined || specifier === '*' ? { action: 'shell' } : commandTarget(effect, specifier)
  const access = Object.hasOwn(fileTools, tool) ? fileTools[tool] : undefined
  if (access) return specifier === undefined ? { action: access } : pathTarget(effect, access, specifier, options)
  if (tool === 'WebFetch' && specifier !== undefined) return hostTarget(specifier)
  return specifier === undefined ? { tool } : `Holdpoint does not know what ${tool}(…) matches.`
}

/** Claude Code matches the start of a command before `:*`, or any text in place of `*`. */
function commandTarget(effect: RuleEffect, specifier: string): Target | string {
  const start = specifier.replace(/:\*$/, '').replace(/ \*$/, '')
  if (start === specifier && !specifier.includes('*')) return { command: specifier }
  // The star may replace the rest of a word, so the rule leaves that word out.
  const literal = (start.includes('*') ? withoutLastWord(start.slice(0, start.indexOf('*'))) : start).trim()
  if (literal === '') return 'The entry matches every command.'
  if (effect !== 'allow')
    return literal === start
      ? { command: start }
      : { command: literal, remark: `The rule matches every “${literal}”, which is more than the entry.` }
  if (literal !== start) return 'The entry allows any text in the middle of a command, which can run other programs.'
  return {
    command: start,
    args: 'grammar',
    remark: `The rule allows only arguments of “${start}” that Holdpoint knows to be harmless. The entry allowed any.`,
  }
}

function withoutLastWord(text: string): string {
  let end = text.length
  while (end > 0 && !/\s/.test(text.charAt(end - 1))) end--
  return text.slice(0, end)
}

function pathTarget(
  effect: RuleEffect,
  action: 'read' | 'write',
  specifier: string,
  { folder, home }: ImportOptions,
): Target | string {
  // Commands can read the file too, so a rule that restricts reading covers every kind of action.
  const kind = effect !== 'allow' && action === 'read' ? {} : { action }
  const pattern = /^(.*?)(\/\*\*)?$/s.exec(specifier)
  const start = pattern?.[1] ?? specifier
  const isFolder = pattern?.[2] !== undefined
  if (/[*?[\]{}]/.test(start)) {
    const beforePattern = start.slice(0, start.search(/[*?[\]{}]/))
    const literal = beforePattern.slice(0, beforePattern.lastIndexOf('/') + 1)
    if (effect === 'allow') return 'Holdpoint matches a file or a whole folder, not a pattern of names.'
    const path = `${absolutePath(literal || '.', folder, home)}/**`
    return {
      ...kind,
      path,
      remark: `The rule matches everything in ${path.slice(0, -3)}, which is more than the entry.`,
    }
  }
  return { ...kind, path: `${absolutePath(start || '.', folder, home)}${isFolder ? '/**' : ''}` }
}

/** Claude Code writes absolute paths with two slashes; one slash starts from the folder of the settings. */
function absolutePath(path: string, folder: string, home: string): string {
  if (path.startsWith('//')) return joinPath('/', path)
  if (path === '~' || path.startsWith('~/')) return joinPath(home, path.slice(2))
  return joinPath(folder, path.replace(/^\/+/, ''))
}

function hostTarget(specifier: string): Target | string {
  const [, host] = /^domain:([\w.-]+)$/.exec(specifier) ?? []
  return host === undefined ? 'Holdpoint matches the exact name of a host, not a pattern.' : { action: 'fetch', host }
}
