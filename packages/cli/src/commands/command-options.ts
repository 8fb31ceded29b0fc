/** Options that several commands share. */
import { type Command, Option } from 'commander'
import { jsonHelp, optionHelp } from './help-texts.ts'

export function jsonOption(what: keyof typeof jsonHelp): Option {
  return new Option('--json', jsonHelp[what])
}

/** Collects the values of an option that can be repeated. */
export function collect(value: string, previous: readonly string[] = []): readonly string[] {
  return [...previous, value]
}

export function storeOption(): Option {
  return new Option('--store <store>', optionHelp.store)
}

/** Adds the options with the settings of a gateway. */
export function addGatewayOptions(command: Command): Command {
  return command
    .option('--port <n>', optionHelp.port)
    .option('--host <address>', optionHelp.host)
    .option('--allow-remote', optionHelp.allowRemote)
    .addOption(storeOption())
    .addOption(new Option('--runner <mode>', optionHelp.runner).choices(['process', 'inline', 'none']))
}
