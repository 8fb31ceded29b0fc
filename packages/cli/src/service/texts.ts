/** Texts that `holdpoint service` prints. */

interface ServiceFiles {
  readonly file: string
  readonly dataFolder: string
}

export const serviceTexts = {
  installed: (gateway: { readonly url: string; readonly link: string }, file: string, logFile: string) =>
    [
      `Holdpoint is running as a service at ${gateway.url}`,
      '',
      `  Open      ${gateway.link}`,
      '            (works once, for ten minutes; `holdpoint link` prints a new one)',
      `  Service   ${file}`,
      `  Log       ${logFile}`,
      '  Remove    holdpoint service remove',
      '',
      'It starts again when you log in, and after a crash.',
    ].join('\n'),
  atBoot: 'To start it when the machine starts, even if nobody logs in: loginctl enable-linger',
  removed: (dataFolder: string) => `The service is stopped and removed. The data in ${dataFolder} is kept.`,
  notInstalled: 'No service is installed. Install one with: holdpoint service install',
  status: (state: string, { file, dataFolder }: ServiceFiles, url: string | null) =>
    [
      url === null ? `The service is ${state}` : `The service is ${state}, at ${url}`,
      '',
      `  Service   ${file}`,
      `  Data      ${dataFolder}`,
    ].join('\n'),
  stateRunning: 'running',
  stateStopped: 'installed but not running',

  exists: (file: string) =>
    `A service is installed already (${file}). Remove it with holdpoint service remove, then install it again. Your data is kept`,
  gatewayRuns: (url: string) =>
    `Holdpoint is already running at ${url}, not as a service. Stop it with holdpoint down, then install the service`,
  fromCache:
    'This program runs from the npx cache, which npm may empty at any time. Install it with npm install -g holdpoint, then run holdpoint service install',
  unsupported: (platform: string) =>
    `holdpoint service works with systemd (Linux) and launchd (macOS), not on ${platform}. Run holdpoint up --detach instead`,
  notAvailable: (name: string, problem: string) =>
    `${name} cannot run services for you here (${problem}). Run holdpoint up --detach instead, or start holdpoint up with the service manager of this machine`,
  notFound: (program: string) => `${program} was not found`,
  lineBreak: (path: string) => `A service cannot use a path with a line break: ${JSON.stringify(path)}`,
  failed: (command: string, problem: string) => `The command failed: ${command} (${problem})`,
  didNotStart: (problem: string, logFile: string) =>
    `The service did not start its gateway, so it was removed again${problem === '' ? '' : `: ${problem}`} (log: ${logFile})`,
  password:
    'The password in --store would be in a file that other users can read. Put the store into holdpoint.config.json in the data folder',
  variables: (names: readonly string[], configFile: string) =>
    `The service does not use ${names.join(', ')} from this terminal. Put such settings into ${configFile}`,
} as const
