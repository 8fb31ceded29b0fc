/** Defines `holdpoint service` and its subcommands. Their code is imported only when one of them runs. */
import type { Command, Option } from 'commander'
import type { DataFolder } from '../config/data-folder.ts'
import { addGatewayOptions, jsonOption } from './command-options.ts'
import { moreHelp, serviceHelp } from './help-texts.ts'

interface ServiceCommandOptions {
  readonly homeOption: () => Option
  readonly readSettings: (
    flags: Record<string, unknown>,
    home: string | undefined,
  ) => Promise<{ readonly dataFolder: DataFolder }>
}

export function defineServiceCommands(service: Command, { homeOption, readSettings }: ServiceCommandOptions): void {
  const define = (name: keyof typeof serviceHelp) => service.command(name).description(serviceHelp[name])
  const commands = () => import('../service/service.ts')
  addGatewayOptions(define('install'))
    .addOption(jsonOption('installedService'))
    .addOption(homeOption())
    .addHelpText('after', moreHelp.serviceInstall)
    .action(async ({ home, json, ...flags }) => {
      // A wrong setting is reported here, not in the log of the service.
      const { dataFolder } = await readSettings(flags, home)
      await (await commands()).serviceInstall(dataFolder, flags, { json })
    })
  define('remove').action(async () => (await commands()).serviceRemove())
  define('status')
    .addOption(jsonOption('service'))
    .action(async ({ json }) => {
      process.exitCode = await (await commands()).serviceStatus({ json })
    })
}
