/** Defines `holdpoint token` and its subcommands. Their code is imported only when one of them runs. */
import { Role } from '@holdpoint/protocol'
import { type Command, Option } from 'commander'
import type { GatewayAddress, GatewayClient } from '../gateway-client/gateway-client.ts'
import { argumentHelp, jsonHelp, moreHelp, optionHelp, tokenHelp } from './help-texts.ts'

interface TokenCommandOptions {
  /** Adds the options that name the gateway. */
  readonly addAddress: (command: Command) => Command
  readonly gateway: (address: GatewayAddress) => Promise<GatewayClient>
}

export function defineTokenCommands(token: Command, { addAddress, gateway }: TokenCommandOptions): void {
  const define = (name: keyof typeof tokenHelp) => addAddress(token.command(name).description(tokenHelp[name]))
  const commands = () => import('./token.ts')
  define('list')
    .option('--json', jsonHelp.tokens)
    .action(async options => (await commands()).listTokens(await gateway(options), options))
  define('add')
    .argument('<name>', argumentHelp.tokenName)
    .addOption(new Option('--role <role>', optionHelp.role).choices(Role.exclude(['owner']).options).default('agent'))
    .option('--person <id>', optionHelp.tokenPerson)
    .option('--expires <time>', optionHelp.expires)
    .option('--json', jsonHelp.newToken)
    .addHelpText('after', moreHelp.tokenAdd)
    .action(async (name: string, options) => (await commands()).addToken(await gateway(options), name, options))
  define('rotate')
    .argument('[token]', argumentHelp.rotatedToken)
    .option('--json', jsonHelp.newToken)
    .addHelpText('after', moreHelp.tokenRotate)
    .action(async (typed: string | undefined, options) =>
      (await commands()).rotateToken(await gateway(options), typed, options),
    )
  define('revoke')
    .argument('<token>', argumentHelp.token)
    .option('--json', jsonHelp.revokedTokens)
    .action(async (typed: string, options) => (await commands()).revokeToken(await gateway(options), typed, options))
}
