/** Makes opencode ask. Without settings, it runs every command and changes every file in its folder without a question. */
import type { OpencodeConfig } from './wire.ts'

type Environment = Readonly<Record<string, string | undefined>>
export interface PermissionRule {
  readonly permission: string
  readonly pattern: string
  readonly action: string
}

/** The permissions that opencode must ask for. */
const askedFor = ['bash', 'edit', 'webfetch', 'websearch', 'codesearch']
/**
 * The same names as patterns. A setting for `bash` would replace the person's own setting for `bash`, but the driver needs
 * the denials in it. The last rule that matches wins, and opencode adds these settings after all others.
 */
const askSettings = Object.fromEntries(askedFor.map(name => [`${name}*`, 'ask']))

/** The mode `plan` forbids edits. The settings above come later and only make opencode ask, so this setting forbids edits again. */
const planSettings = { permission: { edit: { '*': 'deny', '.opencode/plans/*.md': 'allow' } } }

/** Returns the environment that makes opencode ask, in all its agents and subagents, and continue after a denial. */
export function askingEnvironment(env: Environment): Record<string, string> {
  const config = jsonIn(env, 'OPENCODE_CONFIG_CONTENT')
  const agent = objectOf(config.agent)
  const content = {
    ...config,
    agent: { ...agent, plan: { ...objectOf(agent.plan), ...planSettings } },
    // Without this setting, a rejection ends the turn if it rejects several calls.
    experimental: { ...objectOf(config.experimental), continue_loop_on_deny: true },
  }
  return {
    OPENCODE_CONFIG_CONTENT: JSON.stringify(content),
    OPENCODE_PERMISSION: JSON.stringify({ ...jsonIn(env, 'OPENCODE_PERMISSION'), ...askSettings }),
  }
}

/**
 * Returns the rules for a session of opencode. They come after all settings: they deny again what the person's settings deny,
 * and ask for the tools of MCP servers. Subagents inherit the denials, but not the other rules.
 */
export function sessionRules({ permission, mcp }: OpencodeConfig): readonly PermissionRule[] {
  const rules = Object.entries(permission).flatMap(([name, setting]) =>
    typeof setting === 'string'
      ? [{ permission: name, pattern: '*', action: setting }]
      : Object.entries(setting).map(([pattern, action]) => ({ permission: name, pattern, action })),
  )
  const own = rules.filter(rule => !Object.hasOwn(askSettings, rule.permission))
  const asRule = (name: string) => (rule: PermissionRule) => ({
    permission: name,
    pattern: rule.pattern,
    // opencode must also ask about calls that its settings allow, because Holdpoint's own rules decide about them.
    action: rule.action === 'deny' ? 'deny' : 'ask',
  })
  const denials = askedFor.flatMap(name => {
    const matching = own.filter(rule => rule.permission === name || rule.permission === '*')
    const first = matching.findIndex(({ action }) => action === 'deny')
    return first < 0 ? [] : matching.slice(first).map(asRule(name))
  })
  const tools = Object.keys(mcp).flatMap(server => {
    const prefix = mcpPrefix(server)
    const denied = own.filter(({ permission: name, action }) => name.startsWith(prefix) && action === 'deny')
    return [{ permission: `${prefix}*`, pattern: '*', action: 'ask' }, ...denied]
  })
  return [...denials, ...tools]
}

/** The tools that need one of the permissions in `askedFor`, and the tool that asks questions. */
const askingTools: ReadonlySet<string> = new Set([...askedFor, 'write', 'multiedit', 'apply_patch', 'question'])

/** Returns whether opencode asks as soon as the model calls this tool, unless its settings deny the call. */
export function isAsked(tool: string, servers: readonly string[]): boolean {
  return askingTools.has(tool) || servers.some(server => tool.startsWith(mcpPrefix(server)))
}

/** opencode names the tools of an MCP server after the server. */
export function mcpPrefix(server: string): string {
  return `${server.replace(/[^a-zA-Z0-9_-]/g, '_')}_`
}

function jsonIn(env: Environment, name: string): Record<string, unknown> {
  const text = env[name]
  if (!text) return {}
  try {
    return objectOf(JSON.parse(text))
  } catch {
    throw new Error(`${name} in the environment is not valid JSON; correct it or unset it`)
  }
}
function objectOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {} // any other object has named properties
}
