/** Formats durations, sizes, costs and counts for people. */
import type { TurnEntry } from '@holdpoint/client'
import { turnEndings } from './texts.ts'

export function formatDuration(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`
  if (ms < 60_000) return `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s`
  const minutes = Math.floor(ms / 60_000)
  const seconds = Math.round((ms % 60_000) / 1000)
  return minutes < 60 ? `${minutes} min ${seconds} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

/** Formats a cost with two decimals, or with four if the cost is less than ten cents. */
export function formatCost(cost: number): string {
  return `$${cost.toFixed(cost >= 0.1 || cost === 0 ? 2 : 4)}`
}

export function formatSize(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`
  return bytes < 1024 * 1024 ? `${Math.round(bytes / 1024)} KB` : `${(bytes / 1024 / 1024).toFixed(1)} MB`
}

export function formatCount(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? one : many}`
}

/** Returns a turn's outcome, duration, tokens and cost in one line. The duration is missing if it is not known. */
export function turnSummary(
  { ending, usage, cost }: Pick<TurnEntry, 'ending' | 'usage' | 'cost'>,
  durationMs: number | null = null,
): string {
  const parts = [
    turnEndings[ending],
    durationMs === null ? null : formatDuration(durationMs),
    usage?.inputTokens === undefined ? null : `${usage.inputTokens.toLocaleString('en')} tokens in`,
    usage?.outputTokens === undefined ? null : `${usage.outputTokens.toLocaleString('en')} out`,
    cost === undefined ? null : formatCost(cost),
  ]
  return parts.filter(part => part !== null).join(' · ')
}
