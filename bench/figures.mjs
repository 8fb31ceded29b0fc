/** Lists all figures with their suite, their unit, their goal, and whether a missed goal fails the run. */

/** The figures by name. `most` and `least` are goals. A missed goal of a `reported` figure is shown but does not fail the run. `counter` describes the bare program that is measured for comparison. */
export const figures = {
  cycle_cpu_us: {
    suite: 'cycle',
    unit: 'µs',
    most: 400,
    counter: 'the same rows committed in batches of the same size',
  },
  fsyncs_per_cycle: { suite: 'cycle', unit: '', most: 0.25, counter: 'the same batches' },
  cycles_per_s: {
    suite: 'cycle',
    unit: '/s',
    reported: true,
    counter: 'the same rows committed in batches of the same size',
  },
  cycle_ratio: { suite: 'cycle', unit: '×', least: 0.3, reported: true, counter: 'bare cycles per second = 1' },
  http_cycles_per_s: {
    suite: 'http',
    unit: '/s',
    least: 2500,
    reported: true,
    counter: 'node:http that commits the same rows in groups and sends the same replies',
  },
  http_cpu_us: { suite: 'http', unit: 'µs', reported: true, counter: 'the same server' },
  http_roundtrip_p50_ms: {
    suite: 'roundtrip',
    unit: 'ms',
    most: 2,
    reported: true,
    counter: 'three durable commits of the same rows and one loopback POST',
  },
  roundtrip_ratio: { suite: 'roundtrip', unit: '×', most: 3, counter: 'the sum of the three commits and the POST = 1' },
  fanout_cpu_us: { suite: 'fanout', unit: 'µs', reported: true, counter: 'node:http that broadcasts the same bytes' },
  fanout_cpu_ratio: { suite: 'fanout', unit: '×', most: 2, counter: 'the CPU time of the bare broadcast = 1' },
  restart_ms: { suite: 'restart', unit: 'ms', most: 2000, counter: 'the same gateway on an empty database' },
  rss_mb: { suite: 'restart', unit: 'MB', most: 100, counter: 'the whole gateway on an empty database' },
  rss_idle_mb: { suite: 'idle', unit: 'MB', most: 160, counter: 'two idle node processes' },
  history_roundtrip_p50_ms: {
    suite: 'history',
    unit: 'ms',
    reported: true,
    counter: 'the same gateway on an empty database',
  },
  history_ratio: { suite: 'history', unit: '×', most: 1.3, counter: 'the median on an empty database = 1' },
  undelivered_ratio: {
    suite: 'crowded',
    unit: '×',
    most: 1.3,
    counter: 'open to taken in a session without requests = 1; measured with 5,000 answers that were never delivered',
  },
  pending_ratio: {
    suite: 'crowded',
    unit: '×',
    most: 1.3,
    counter: 'the same; measured with 5,000 pending requests, 1,000 of them in the session',
  },
  start_ms: { suite: 'start', unit: 'ms', most: 700, counter: 'node with a listening HTTP server' },
  inbox_start_ms: { suite: 'inbox', unit: 'ms', most: 300, counter: 'node that does nothing' },
  hook_ms: { suite: 'hook', unit: 'ms', most: 300, counter: 'a hook in node that does nothing' },
  verdict_ms: {
    suite: 'rules',
    unit: 'ms',
    most: 0.3,
    counter: 'canonical JSON of the same calls; measured with 20 rules and both groups',
  },
  verdict_many_rules_ms: {
    suite: 'rules',
    unit: 'ms',
    most: 2,
    counter: 'the same calls with 20 rules; measured with 10,000',
  },
  verdict_many_paths_ms: {
    suite: 'rules',
    unit: 'ms',
    most: 2,
    counter: 'the same calls with both groups; measured with 10,000 rules for paths in 100 folders',
  },
  verdict_many_folders_ms: {
    suite: 'rules',
    unit: 'ms',
    most: 2,
    counter: 'the same calls with both groups; measured with 10,000 rules that each apply in another folder',
  },
  watch_pass_ms: {
    suite: 'rules',
    unit: 'ms',
    most: 1,
    counter: 'the verdict of 20 rules on the same calls; measured with 200 watchers with conditions',
  },
  verdict_long_ms: { suite: 'rules', unit: 'ms', most: 50, counter: 'canonical JSON of 1 MiB of nested brackets' },
  pg_cycles_per_s: {
    suite: 'postgres',
    unit: '/s',
    reported: true,
    counter: 'the same rows committed in transactions of the same size',
  },
  claude_overhead_ms: {
    suite: 'claude',
    unit: 'ms',
    most: 15,
    counter: 'a whole tool call of the CLI, from the model’s reply to its next turn, allowed by a bare program',
  },
  codex_overhead_ms: {
    suite: 'agents',
    unit: 'ms',
    most: 15,
    counter: 'a whole tool call of Codex, from the model’s reply to its next turn, allowed by a bare client',
  },
  opencode_overhead_ms: { suite: 'agents', unit: 'ms', most: 15, counter: 'the same with opencode' },
  codex_added_ms: {
    suite: 'agents',
    unit: 'ms',
    most: 15,
    counter: 'a whole tool call of Codex with a bare client; measured is how much longer it takes with Holdpoint',
  },
  opencode_added_ms: { suite: 'agents', unit: 'ms', most: 15, counter: 'the same with opencode' },
  waiting_live_mb: { suite: 'claude', unit: 'MB', reported: true, counter: 'the CLI’s own process' },
  waiting_parked_mb: { suite: 'claude', unit: 'MB', most: 2, counter: 'the CLI’s own process, which has ended' },
  page_script_kb: { suite: 'page', unit: 'KB', most: 150, counter: 'every script of the page' },
  page_interactive_ms: { suite: 'page', unit: 'ms', most: 1000, counter: 'an SVG from the same server' },
  page_inbox_1000_ms: { suite: 'page', unit: 'ms', most: 1000, counter: 'the same with 10 pending' },
  page_talk_ms: { suite: 'page', unit: 'ms', most: 1500, counter: 'the same with 100 events' },
  page_talk_heap_mb: { suite: 'page', unit: 'MB', most: 200, counter: 'the same with 100 events' },
  page_frames_quick: { suite: 'page', unit: '%', least: 99, counter: 'the same with 100 events' },
  revive_ms: { suite: 'claude', unit: 'ms', most: 3000, counter: 'a new CLI, from start to its first call' },
}

export const suites = [...new Set(Object.values(figures).map(figure => figure.suite))]

export function goalOf({ most, least }) {
  if (most !== undefined) return `≤ ${most}`
  return least === undefined ? '' : `≥ ${least}`
}

export function isMet({ most = Number.POSITIVE_INFINITY, least = Number.NEGATIVE_INFINITY }, measured) {
  return measured <= most && measured >= least
}
