/** Texts that `up`, `down`, `backup` and `restore` print. */

export function welcomeText(gateway: { readonly url: string; readonly link: string }, dataFolder: string): string {
  return [
    `Holdpoint is ready at ${gateway.url}`,
    '',
    `  Open   ${gateway.link}`,
    '         (works once, for ten minutes; `holdpoint link` prints a new one)',
    `  Data   ${dataFolder}`,
    '  Try    holdpoint rehearse      a demo agent that asks every kind of question',
    '',
    'Ctrl+C stops the gateway. Pending requests are kept.',
  ].join('\n')
}

export const detachedTexts = {
  running: (gateway: { readonly url: string; readonly link: string }, logFile: string) =>
    [
      `Holdpoint is running in the background at ${gateway.url}`,
      '',
      `  Open   ${gateway.link}`,
      '         (works once, for ten minutes; `holdpoint link` prints a new one)',
      `  Log    ${logFile}`,
      '  Stop   holdpoint down',
    ].join('\n'),
  failed: (message: string, logFile: string) => `The gateway did not start: ${message} (log: ${logFile})`,
} as const

export function alreadyRunning(url: string, dataFolder: string): string {
  return `Holdpoint is already running at ${url} (${dataFolder} is in use by another gateway). Open the page with holdpoint open, or stop it with holdpoint down`
}

export const runnerStillRunning =
  'Gateway stopped. Pending requests are kept. The runner and its agents keep running for ten minutes; `holdpoint down` stops them now.'

/** Messages for listen errors that a person can fix, by Node's error code. */
export const listenErrors: Readonly<Record<string, (port: number) => string>> = {
  EADDRINUSE: port => `Port ${port} is taken. Choose another with --port N, or --port 0 for any free port`,
  EADDRNOTAVAIL: () =>
    '--host is not an address of this machine. Leave it out to listen on this machine only, or use 0.0.0.0 for all addresses',
  ENOTFOUND: () =>
    'The host name in --host is unknown. Leave it out to listen on this machine only, or use 0.0.0.0 for all addresses',
  EACCES: port => `You do not have permission to use port ${port}. Choose a port above 1023 with --port N`,
}

export const terminalTexts = {
  closed: 'The terminal was closed',
}

export const remoteTexts = {
  refused: (host: string) =>
    `--host ${host} lets other machines reach the gateway, and Holdpoint does not encrypt its traffic. Leave --host out to use only this machine. Otherwise put a reverse proxy with TLS in front of the gateway, and confirm with --allow-remote`,
  reachable: (host: string) =>
    `Other machines can reach this gateway at ${host}. Its traffic is not encrypted: let only a reverse proxy with TLS connect to it.`,
} as const

export function stoppedText(stopped: ReadonlySet<string>): string {
  return `Stopped: ${[...stopped].join(' and ')}. Pending requests are kept.`
}
export function nothingRunning(dataFolder: string): string {
  return `No gateway is running (data folder: ${dataFolder})`
}
export function stillRunning(dataFolder: string): string {
  return `A process that uses ${dataFolder} is still running. Run holdpoint down again`
}

export function backupWritten(file: string, bytes: number, isGatewayRunning: boolean): string {
  return `Backed up to ${file} (${bytes} bytes)${isGatewayRunning ? ' while the gateway was running' : ''}.`
}
export const restoreWhileRunning = 'The gateway is running. Stop it with holdpoint down, then try again'
export const restorePostgres =
  'holdpoint restore works only with SQLite. For PostgreSQL, use pg_restore or psql, then start with holdpoint up --accept-data-loss'
