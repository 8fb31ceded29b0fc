/** Every figure by its name: what it counts, what it has to be, and whether missing that fails the run. */

/** `most` and `least` are goals; `reported` ones are shown as met or missed and fail nothing. A `counter` names what the bare figure is. */
export const figures = {
  cycle_cpu_us: {
    part: 'cycle',
    unit: 'µs',
    most: 400,
    counter: 'the same rows committed in batches of the same size',
  },
  fsyncs_per_cycle: { part: 'cycle', unit: '', most: 0.25, counter: 'the same batches' },
  cycles_per_s: {
    part: 'cycle',
    unit: '/s',
    reported: true,
    counter: 'the same rows committed in batches of the same size',
  },
  cycle_ratio: { part: 'cycle', unit: '×', least: 0.3, reported: true, counter: 'bare cycles per second are 1' },
  http_cycles_per_s: {
    part: 'http',
    unit: '/s',
    least: 2500,
    reported: true,
    counter: 'node:http that commits the same rows in groups and answers the same bodies',
  },
  http_cpu_us: { part: 'http', unit: 'µs', reported: true, counter: 'the same server' },
  http_roundtrip_p50_ms: {
    part: 'roundtrip',
    unit: 'ms',
    most: 2,
    reported: true,
    counter: 'three durable commits of the same rows and one loopback POST',
  },
  roundtrip_ratio: { part: 'roundtrip', unit: '×', most: 3, counter: 'that sum is 1' },
  fanout_cpu_us: { part: 'fanout', unit: 'µs', reported: true, counter: 'node:http that broadcasts the same bytes' },
  fanout_cpu_ratio: { part: 'fanout', unit: '×', most: 2, counter: 'that broadcast is 1' },
  restart_ms: { part: 'restart', unit: 'ms', most: 2000, counter: 'the same gateway on an empty file' },
  rss_mb: { part: 'restart', unit: 'MB', most: 100, counter: 'the whole gateway on an empty file' },
  rss_idle_mb: { part: 'idle', unit: 'MB', most: 160, counter: 'two idle node processes' },
  history_roundtrip_p50_ms: {
    part: 'history',
    unit: 'ms',
    reported: true,
    counter: 'the same gateway on an empty file',
  },
  history_ratio: { part: 'history', unit: '×', most: 1.3, counter: 'the median on an empty file is 1' },
  start_ms: { part: 'start', unit: 'ms', most: 700, counter: 'node with an HTTP server that listens' },
  inbox_start_ms: { part: 'inbox', unit: 'ms', most: 300, counter: 'node that does nothing' },
  pg_cycles_per_s: {
    part: 'postgres',
    unit: '/s',
    reported: true,
    counter: 'the same rows committed in transactions of the same size',
  },
  claude_overhead_ms: {
    part: 'claude',
    unit: 'ms',
    most: 15,
    counter: 'a whole call of the CLI, from the model’s word to the model’s next turn, allowed by a bare program',
  },
  waiting_live_mb: { part: 'claude', unit: 'MB', reported: true, counter: 'the CLI’s own process' },
  waiting_parked_mb: { part: 'claude', unit: 'MB', most: 2, counter: 'the CLI’s own process, which is gone' },
  page_script_kb: { part: 'page', unit: 'KB', most: 150, counter: 'every script of the page' },
  page_interactive_ms: { part: 'page', unit: 'ms', most: 1000, counter: 'a drawing from the same server' },
  page_inbox_1000_ms: { part: 'page', unit: 'ms', most: 1000, counter: 'the same with 10 pending' },
  page_talk_ms: { part: 'page', unit: 'ms', most: 1500, counter: 'the same with 100 events' },
  page_talk_heap_mb: { part: 'page', unit: 'MB', most: 200, counter: 'the same with 100 events' },
  page_frames_quick: { part: 'page', unit: '%', least: 99, counter: 'the same with 100 events' },
  revive_ms: { part: 'claude', unit: 'ms', most: 3000, counter: 'a new CLI, from start to its first call' },
}

export const parts = [...new Set(Object.values(figures).map(figure => figure.part))]

export function goalOf({ most, least }) {
  if (most !== undefined) return `≤ ${most}`
  return least === undefined ? '' : `≥ ${least}`
}

export function isMet({ most = Number.POSITIVE_INFINITY, least = Number.NEGATIVE_INFINITY }, measured) {
  return measured <= most && measured >= least
}
