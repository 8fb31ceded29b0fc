/** Defines the subcommands of `holdpoint watch` for watchers. Their code is imported only when one of them runs. */
import type { Command } from 'commander'
import type { GatewayAddress, GatewayClient } from '../gateway-client/gateway-client.ts'
import { collect, jsonOption } from './command-options.ts'
import { argumentHelp, optionHelp, watcherHelp } from './help-texts.ts'

export function defineWatcherCommands(
  watch: Command,
  addAddress: (command: Command) => Command,
  gateway: (address: GatewayAddress & { json?: boolean }) => Promise<GatewayClient>,
): void {
  const define = (name: keyof typeof watcherHelp) => addAddress(watch.command(name).description(watcherHelp[name]))
  const commands = () => import('./watchers.ts')
  define('list')
    .option('--session <id>', optionHelp.watchSession)
    .addOption(jsonOption('watchers'))
    .action(async options => (await commands()).listWatchers(await gateway(options), options))
  define('check')
    .argument('[file]', argumentHelp.watchFile)
    .addOption(jsonOption('watchFile'))
    .action(async (file: string | undefined, options) => (await commands()).checkWatchFile(file, options))
  define('on')
    .argument('<name>', argumentHelp.readyMade)
    .option('--cwd <folder>', optionHelp.watchCwd)
    .option('--with <setting=value>', optionHelp.watchWith, collect)
    .action(async (name: string, options) => (await commands()).turnOn(name, options))
  define('off')
    .argument('<name>', argumentHelp.readyMade)
    .option('--cwd <folder>', optionHelp.watchCwd)
    .action(async (name: string, options) => (await commands()).turnOff(name, options))
  define('ready')
    .addOption(jsonOption('readyMade'))
    .action(async options => (await commands()).listReadyMade(options))
}
