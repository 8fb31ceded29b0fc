/** The two programs that start services of a person: systemd on Linux and launchd on macOS. Each has a file that describes the service, and commands. */
import { join } from 'node:path'

export interface ServiceDefinition {
  /** The path of Node, and of the program that it runs. */
  readonly program: readonly [string, string]
  readonly dataFolder: string
  /** Options of `up`, as words. */
  readonly options: readonly string[]
  readonly logFile: string
  /** The working folder, in which new sessions start. */
  readonly cwd: string
  /** PATH, in which the gateway finds agents. */
  readonly path: string
}

type CommandLine = readonly [string, ...string[]]

export interface Launcher {
  readonly name: string
  /** The file that describes the service. */
  readonly file: string
  readonly describe: (definition: ServiceDefinition) => string
  /** Returns the data folder that `describe` wrote into the file. */
  readonly dataFolderIn: (text: string) => string | null
  /** Succeeds if this machine has the launcher and it runs for this person. */
  readonly check: CommandLine
  readonly start: readonly CommandLine[]
  readonly stop: readonly CommandLine[]
  /** Run after the file is deleted. */
  readonly forget: readonly CommandLine[]
  readonly state: CommandLine
  readonly isRunning: (printed: string) => boolean
}

export interface Person {
  readonly home: string
  readonly uid: number
  readonly env: NodeJS.ProcessEnv
}

/** Returns null if this platform has neither systemd nor launchd. */
export function launcherOf(platform: NodeJS.Platform, person: Person): Launcher | null {
  if (platform === 'linux') return systemd(person)
  return platform === 'darwin' ? launchd(person) : null
}

const unit = 'holdpoint.service'

function systemd({ home, env }: Person): Launcher {
  const systemctl = (...words: string[]): CommandLine => ['systemctl', '--user', ...words]
  return {
    name: 'systemd',
    file: join(env.XDG_CONFIG_HOME || join(home, '.config'), 'systemd/user', unit),
    describe: unitText,
    dataFolderIn: text => {
      const [, quoted] = /--home "((?:[^"\\]|\\.)*)"/.exec(text) ?? []
      return quoted?.replace(/\\(.)|%(%)|\$(\$)/g, '$1$2$3') ?? null
    },
    check: systemctl('show', '--property=Version'),
    start: [systemctl('daemon-reload'), systemctl('enable', '--now', unit)],
    stop: [systemctl('disable', '--now', unit)],
    forget: [systemctl('daemon-reload')],
    state: systemctl('is-active', unit),
    isRunning: printed => printed.trim() === 'active',
  }
}

/** The gateway's supervisor handles crashes of the gateway. systemd restarts the supervisor. `down` also stops the runner, which systemd would kill. */
function unitText(definition: ServiceDefinition): string {
  const { program, dataFolder, options, logFile, cwd, path } = definition
  const command = (name: string, ...words: readonly string[]) =>
    [
      quoteProgram(program[0]),
      quoteArgument(program[1]),
      name,
      '--home',
      quoteArgument(dataFolder),
      ...words.map(quoteArgument),
    ].join(' ')
  return `[Unit]
Description=Holdpoint, the gateway where AI agents stop and ask people
StartLimitIntervalSec=120
StartLimitBurst=10

[Service]
Type=exec
ExecStart=${command('up', ...options)}
ExecStop=${command('down')}
WorkingDirectory=${escapeSpecifiers(cwd)}
Environment=${quoteProgram(`PATH=${path}`)}
StandardOutput=append:${escapeSpecifiers(logFile)}
StandardError=append:${escapeSpecifiers(logFile)}
Restart=on-failure
RestartSec=5
KillMode=mixed
TimeoutStopSec=30

[Install]
WantedBy=default.target
`
}
const escapeSpecifiers = (text: string) => text.replaceAll('%', '%%')
const quoteProgram = (text: string) => `"${escapeSpecifiers(text).replace(/["\\]/g, '\\$&')}"`
/** systemd replaces variables in the arguments of a program, but not in the path of the program. */
const quoteArgument = (text: string) => quoteProgram(text).replaceAll('$', '$$$$')

const label = 'holdpoint.gateway'

function launchd({ home, uid }: Person): Launcher {
  const domain = `gui/${uid}`
  const file = join(home, 'Library/LaunchAgents', `${label}.plist`)
  return {
    name: 'launchd',
    file,
    describe: plistText,
    dataFolderIn: text => {
      const [, escaped] = /<string>--home<\/string>\s*<string>([^<]*)<\/string>/.exec(text) ?? []
      return escaped?.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&') ?? null
    },
    check: ['launchctl', 'print', domain],
    start: [['launchctl', 'bootstrap', domain, file]],
    stop: [['launchctl', 'bootout', `${domain}/${label}`]],
    forget: [],
    state: ['launchctl', 'print', `${domain}/${label}`],
    isRunning: printed => printed.split('\n').some(line => line.trim() === 'state = running'),
  }
}

function plistText({ program, dataFolder, options, logFile, cwd, path }: ServiceDefinition): string {
  const text = (value: string) =>
    `<string>${value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')}</string>`
  const words = [...program, 'up', '--home', dataFolder, ...options].map(word => `    ${text(word)}`)
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key>
  ${text(label)}
  <key>ProgramArguments</key>
  <array>
${words.join('\n')}
  </array>
  <key>WorkingDirectory</key>
  ${text(cwd)}
  <key>EnvironmentVariables</key>
  <dict>
    <key>PATH</key>
    ${text(path)}
  </dict>
  <key>StandardOutPath</key>
  ${text(logFile)}
  <key>StandardErrorPath</key>
  ${text(logFile)}
  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <dict>
    <key>SuccessfulExit</key>
    <false/>
  </dict>
  <key>ThrottleInterval</key>
  <integer>10</integer>
  <key>ExitTimeOut</key>
  <integer>30</integer>
</dict>
</plist>
`
}
