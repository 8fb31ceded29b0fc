/** What `up`, `down`, `backup` and `restore` print. */

export function welcomeText(gateway: { readonly url: string; readonly link: string }, dataFolder: string): string {
  return [
    `Holdpoint is ready at ${gateway.url}`,
    '',
    `  Open   ${gateway.link}`,
    '         (works once, within ten minutes; `holdpoint link` makes another)',
    `  Data   ${dataFolder}`,
    '  Try    holdpoint rehearse      a demo agent that asks every kind of question',
    '',
    'Ctrl+C stops the gateway. Pending requests are kept.',
  ].join('\n')
}

export const runnerStillRunning =
  'Gateway stopped. Pending requests are kept. The runner keeps its agents for a while; `holdpoint down` stops it too.'

/** Explains the listen errors that a person can fix, by the error code of Node. */
export const listenErrors: Readonly<Record<string, (port: number) => string>> = {
  EADDRINUSE: port => `Port ${port} is taken. Choose another with --port N, or --port 0 for any free port`,
  EADDRNOTAVAIL: () => '--host is not an address of this machine. Leave it out for 127.0.0.1, or use 0.0.0.0 for all',
  ENOTFOUND: () => 'The name in --host is unknown. Leave it out for 127.0.0.1, or use 0.0.0.0 for all',
  EACCES: port => `You are not permitted to use port ${port}. Choose one above 1023 with --port N`,
}

export function stoppedText(stopped: ReadonlySet<string>): string {
  return `Stopped: ${[...stopped].join(' and ')}. Pending requests are kept.`
}
export function nothingRunning(dataFolder: string): string {
  return `No gateway is running (data: ${dataFolder})`
}
export function stillRunning(dataFolder: string): string {
  return `A process that uses ${dataFolder} is still running. Run holdpoint down again`
}

export function backupWritten(file: string, bytes: number, isGatewayRunning: boolean): string {
  return `${file}: ${bytes} bytes${isGatewayRunning ? ', copied while the gateway was running' : ''}`
}
export function restored(file: string, previousFile: string | null): string {
  const previous = previousFile === null ? '' : ` The previous database is kept as ${previousFile}.`
  return `Restored ${file}.${previous} Connected clients reload by themselves.`
}
export const restoreWhileRunning = 'The gateway is running. Stop it with holdpoint down, then restore'
export const restorePostgres = 'restore works only with SQLite. For PostgreSQL use pg_restore or psql'
