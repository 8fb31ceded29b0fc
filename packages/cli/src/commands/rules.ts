/** `holdpoint rules`: lists, adds, changes, tests and imports rules. */
import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { isBuiltIn, previewLabel, ruleLabel, ruleLimitsLabel, ruleScopeLabel, watcherLabel } from '@holdpoint/client'
import { Fault, type Rule, type RuleDraft, type RuleEffect, SessionId, type Verdict } from '@holdpoint/protocol'
import { importClaudePermissions } from '@holdpoint/rules'
import { z } from 'zod'
import type { GatewayClient } from '../gateway-client/gateway-client.ts'
import { out } from '../output/output.ts'
import { type Row, row, trusted, untrusted, untrustedCode } from '../output/span.ts'
import { parseDuration } from './durations.ts'
import { findRequest, findRule, findSession, idShortener } from './ids.ts'
import { rulesTexts as texts } from './rules-texts.ts'

interface JsonOption {
  readonly json?: boolean
}
interface RuleOptions extends JsonOption {
  readonly command?: string
  readonly args?: 'exact' | 'grammar'
  readonly group?: RuleDraft['group']
  readonly path?: string
  readonly networkHost?: string
  readonly mcp?: string
  readonly tool?: string
  readonly action?: RuleDraft['action']
  readonly cwd?: string
  readonly session?: string
  readonly driver?: string
  readonly expires?: string
  readonly uses?: string
  readonly until?: 'turn' | 'session'
  readonly message?: string
  readonly note?: string
}

export async function listRules({ call }: GatewayClient, { json }: JsonOption): Promise<void> {
  const page = await call('listRules', {})
  if (json) return out.json(page)
  const { now } = await call('whoAmI', {})
  const shorten = idShortener(page.items.map(({ id }) => id))
  // The ids of the built-in rules differ only in their last letters, and no command changes these rules.
  const idOf = (rule: Rule) => (out.isTerminal && isBuiltIn(rule) ? texts.builtIn : shorten(rule.id))
  const lines = page.items.map(rule => [
    trusted(idOf(rule)),
    trusted(isBuiltIn(rule) && rule.note ? rule.note : ruleLabel(rule), styleOf(rule)),
    trusted(ruleScopeLabel(rule)),
    trusted(ruleLimitsLabel(rule, now)),
    trusted(rule.uses === undefined ? '' : String(rule.uses)),
    rule.source ? untrusted(rule.source.file) : untrusted(rule.madeBy),
  ])
  out.printTable(texts.columns, lines, { spare: texts.spareColumns })
  if (page.items.every(isBuiltIn)) out.printHint(texts.none)
}

function styleOf({ effect }: RuleDraft): 'yes' | 'no' | 'waiting' {
  return effect === 'allow' ? 'yes' : effect === 'deny' ? 'no' : 'waiting'
}

export async function addRule(client: GatewayClient, effect: RuleEffect, options: RuleOptions): Promise<void> {
  const rule = await client.call('addRule', await draftFrom(client, effect, options))
  if (options.json) return out.json(rule)
  out.print(...ruleRows(texts.added, rule), row(trusted(texts.pendingToo, 'quiet')))
}

/** Changes the parts of a rule that the options name, and keeps the other parts. */
export async function editRule(client: GatewayClient, typed: string, options: RuleOptions): Promise<void> {
  const { call } = client
  const before = await findRule(call, typed)
  const change = await draftFrom(client, before.effect, { ...options, cwd: options.cwd ?? before.scope?.cwd })
  const { effect: _effect, scope, ...named } = change
  const given = Object.keys(options).filter(name => name !== 'json' && name !== 'url' && name !== 'home')
  if (given.length === 0) throw new Fault('bad_input', texts.nothingToChange)
  const draft = { ...draftOf(before), ...named, scope: { ...before.scope, ...scope } }
  const rule = await call('patchRule', { id: before.id, version: before.version, rule: draft })
  if (options.json) return out.json(rule)
  out.print(...ruleRows(texts.changed, rule))
}

/** Returns the content of a rule without the fields that the gateway has added. */
function draftOf(rule: Rule): RuleDraft {
  const { id, madeBy, madeById, madeAt, version, uses, lastUsedAt, source, usesLeft, ...draft } = rule
  return { ...draft, ...(usesLeft === undefined || usesLeft === 0 ? {} : { usesLeft }) }
}

export async function pauseRule({ call }: GatewayClient, typed: string, paused: boolean): Promise<void> {
  const { id } = await findRule(call, typed)
  out.print(...ruleRows(paused ? texts.paused : texts.resumed, await call('patchRule', { id, paused })))
}

export async function removeRule({ call }: GatewayClient, typed: string): Promise<void> {
  const rule = await findRule(call, typed)
  await call('removeRule', { id: rule.id })
  out.print(...ruleRows(texts.removed, rule))
}

function ruleRows(what: string, rule: Rule): readonly Row[] {
  return [
    row(trusted(what), trusted(rule.id, 'quiet')),
    row(trusted('  '), trusted(ruleLabel(rule), styleOf(rule)), trusted(` ${ruleScopeLabel(rule)}`, 'quiet')),
  ]
}

/** Builds a rule from the options. A rule for a command or a group is for the current folder unless another scope is given. */
async function draftFrom({ call }: GatewayClient, effect: RuleEffect, options: RuleOptions): Promise<RuleDraft> {
  const { command, args, group, path, networkHost, mcp, tool, action, driver, until, message, note, expires } = options
  const session = options.session === undefined ? undefined : await sessionId(call, options.session)
  const needsFolder = effect === 'allow' && session === undefined && (command !== undefined || group !== undefined)
  const cwd = options.cwd === undefined ? (needsFolder ? process.cwd() : undefined) : resolve(options.cwd)
  const [server, ...mcpTool] = mcp?.split('/') ?? []
  if (mcp !== undefined && !server) throw new Fault('bad_input', texts.badMcp)
  const scope = { ...(cwd && { cwd }), ...(session && { session }), ...(driver && { driver }) }
  const given = { command, args, group, host: networkHost, tool, action, until, message, note }
  const draft = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
  return {
    effect,
    ...draft,
    ...(path === undefined ? {} : { path: resolve(path.replace(/\/\*\*$/, '')) + (path.endsWith('/**') ? '/**' : '') }),
    ...(server ? { mcp: { server, ...(mcpTool.length > 0 ? { tool: mcpTool.join('/') } : {}) } } : {}),
    ...(Object.keys(scope).length > 0 ? { scope } : {}),
    ...(expires === undefined ? {} : { expiresAt: (await call('whoAmI', {})).now + durationMs(expires) }),
    ...(options.uses === undefined ? {} : { usesLeft: usesFrom(options.uses) }),
  }
}

async function sessionId(call: GatewayClient['call'], typed: string): Promise<SessionId> {
  const full = SessionId.safeParse(typed)
  return full.success ? full.data : (await findSession(call, typed)).id
}
function durationMs(typed: string): number {
  const ms = parseDuration(typed)
  if (ms === null) throw new Fault('bad_input', texts.badDuration(typed))
  return ms
}
function usesFrom(typed: string): number {
  const uses = Number(typed)
  if (!Number.isSafeInteger(uses) || uses < 1) throw new Fault('bad_input', texts.badUses(typed))
  return uses
}

interface CheckOptions extends JsonOption {
  readonly cwd?: string
}

/** Shows what the rules would decide about a shell command, without asking anyone. */
export async function checkCommand({ call }: GatewayClient, words: readonly string[], { cwd, json }: CheckOptions) {
  const folder = resolve(cwd ?? '.')
  const command = words.join(' ')
  const verdict = await call('checkRules', {
    ask: {
      kind: 'approval',
      tool: 'Bash',
      input: { command },
      action: { shell: command, cwd: folder },
      title: 'check',
      cwd: folder,
      editable: true,
    },
  })
  if (json) return out.json(verdict)
  out.print(...verdictRows(verdict), ...(await watcherRows(call, {})))
}

/** Lists the watchers that could still deny a call or ask about it. What they do depends on the course of a session, so a check of the rules does not include them. */
async function watcherRows(
  call: GatewayClient['call'],
  scope: { readonly session?: SessionId },
): Promise<readonly Row[]> {
  const { items } = await call('listWatchers', scope)
  const deciding = items.filter(({ on, do: { deny, ask: asks, limit } }) => on === 'before' && (deny ?? asks ?? limit))
  if (deciding.length === 0) return []
  return [
    row(trusted(texts.watchersToo, 'quiet')),
    ...deciding.map(watcher => row(trusted(`  ${watcher.name}`), trusted(`  ${watcherLabel(watcher)}`, 'quiet'))),
  ]
}

function verdictRows(verdict: Verdict): readonly Row[] {
  const { rule, ruleVersion, reason, command } = verdict
  return [
    row(trusted(texts.verdict(verdict), styleOf({ effect: verdict.verdict }))),
    row(trusted('  '), untrusted(reason)),
    ...(rule === undefined ? [] : [row(trusted('  '), trusted(texts.byRule(rule, ruleVersion), 'quiet'))]),
    ...(command === undefined ? [] : [row(trusted(`  ${texts.runsAs}`), untrustedCode(command))]),
  ]
}

export async function previewRule(client: GatewayClient, effect: RuleEffect, options: RuleOptions): Promise<void> {
  const preview = await client.call('previewRule', { rule: await draftFrom(client, effect, options) })
  if (options.json) return out.json(preview)
  const { now } = await client.call('whoAmI', {})
  out.print(row(trusted(previewLabel(preview, now))), row(trusted(texts.previewPending(preview))))
  for (const { what, answer, request } of preview.examples)
    out.print(
      row(
        trusted(`  ${answer ?? '·'} `, answer === 'deny' ? 'no' : 'yes'),
        untrustedCode(what),
        trusted(` ${request}`, 'quiet'),
      ),
    )
}

/** Says which rule answered a request, or why a person is asked. */
export async function explainRequest({ call }: GatewayClient, typed: string, { json }: JsonOption): Promise<void> {
  const { ask, resolution, session, agentPath } = await findRequest(call, typed)
  if (ask.kind !== 'approval') return out.print(row(trusted(texts.onlyApprovals)))
  const verdict = await call('checkRules', { ask, session, agentPath })
  if (json) return out.json({ resolution, verdict })
  if (!resolution) out.print(row(trusted(texts.stillPending)))
  else if (resolution.watcher)
    out.print(
      row(trusted(texts.answeredByWatcher)),
      row(trusted('  '), untrusted(`${resolution.watcher.name}, ${resolution.watcher.file}`, 'quiet')),
    )
  else if (resolution.by === 'rule')
    out.print(
      row(trusted(texts.answeredByRule)),
      row(trusted(`  ${texts.byRule(resolution.rule ?? '', resolution.ruleVersion)}`, 'quiet')),
    )
  else out.print(row(trusted(resolution.by === 'person' ? texts.answeredByPerson : texts.answeredOtherwise)))
  out.print(row(trusted(texts.rulesNow)), ...verdictRows(verdict), ...(await watcherRows(call, { session })))
}

const PermissionList = z.array(z.string()).optional()
const Settings = z.object({
  permissions: z.object({ allow: PermissionList, ask: PermissionList, deny: PermissionList }),
})

interface ImportOptions {
  readonly cwd?: string
  readonly dryRun?: boolean
}

/** Adds the rules of a settings file of Claude Code, and says what is left out and why. */
export async function importRules({ call }: GatewayClient, typed: string | undefined, options: ImportOptions) {
  const folder = resolve(options.cwd ?? '.')
  const file = typed === undefined ? join(folder, '.claude', 'settings.json') : resolve(typed)
  const entries = importClaudePermissions(readPermissions(file), { folder, home: homedir() })
  let taken = 0
  for (const { effect, entry, rule, remark } of entries) {
    if (rule && !options.dryRun) await call('addRule', rule)
    if (rule) taken++
    out.print(
      row(trusted(rule ? '✓ ' : '✗ ', rule ? 'yes' : 'no'), trusted(`${effect} `, 'quiet'), untrustedCode(entry)),
      ...(remark === null ? [] : [row(trusted('    '), untrusted(remark, 'quiet'))]),
    )
  }
  out.print(row(trusted(options.dryRun ? texts.wouldImport(taken) : texts.imported(taken))))
  if (taken < entries.length) out.print(row(trusted(texts.leftOut(entries.length - taken))))
}

function readPermissions(file: string): z.infer<typeof Settings>['permissions'] {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch {
    throw new Fault('not_found', texts.noSettings(file))
  }
  try {
    return Settings.parse(JSON.parse(text)).permissions
  } catch {
    throw new Fault('bad_input', texts.badSettings(file))
  }
}
