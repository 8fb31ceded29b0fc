/** Builds the rules that keep Claude Code itself out of a folder. */

/** Matches a path that can be part of a rule without escaping. */
const plainPath = /^(?:\/[\w.@+-]+)+$/

/** Returns no rules for a folder whose path would have to be escaped. The gateway's own rule still denies tool calls there. */
export function denyRulesFor(folder: string | undefined): readonly string[] {
  if (folder === undefined || !plainPath.test(folder)) return []
  return ['Read', 'Edit'].map(tool => `${tool}(/${folder}/**)`)
}
