/** The titles that drivers give to calls for which the agent has no words of its own. */
import type { ApprovalAsk } from './ask.ts'
import { limits } from './limits.ts'
import { actionOf } from './tool-call.ts'

export const callTitles = {
  run: (command: string) => truncateTitle(`Run: ${command.trim().split('\n')[0]}`),
  change: (paths: readonly string[]) =>
    truncateTitle(paths.length === 1 ? `Change ${paths[0]}` : `Change ${paths.length} files: ${paths.join(', ')}`),
  fetch: (address: string) => truncateTitle(`Fetch ${address}`),
  use: (tool: string) => truncateTitle(`Use ${tool}`),
} as const

/** Cuts a title to the length that a title may have. Half a character at the end would make the title invalid. */
export function truncateTitle(title: string): string {
  return title.length > limits.titleMax ? `${title.slice(0, limits.titleMax - 1).toWellFormed()}…` : title
}

/** Returns whether the title of an approval is one of `callTitles`. Such a title only repeats what the request shows in full, and the agent did not say it. */
export function isCallTitle(ask: ApprovalAsk): boolean {
  const action = actionOf(ask)
  const { url } = ask.input
  const titles = [
    callTitles.use(ask.tool),
    ...('shell' in action ? [callTitles.run(action.shell)] : []),
    ...('write' in action ? [callTitles.change(action.write)] : []),
    ...(typeof url === 'string' ? [callTitles.fetch(url)] : []),
  ]
  return titles.includes(ask.title)
}
