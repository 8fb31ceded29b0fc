/** Defines `holdpoint rules` and its subcommands. Their code is imported only when one of them runs. */
import { ActionKind, CommandGroup, RuleEffect } from '@holdpoint/protocol'
import { Argument, type Command, Option } from 'commander'
import type { GatewayAddress, GatewayClient } from '../gateway-client/gateway-client.ts'
import { argumentHelp, jsonHelp, moreHelp, ruleOptionHelp, rulesHelp } from './help-texts.ts'

interface RulesCommandOptions {
  /** Adds the options that name the gateway. */
  readonly addAddress: (command: Command) => Command
  readonly gateway: (address: GatewayAddress) => Promise<GatewayClient>
}

export function defineRulesCommands(rules: Command, { addAddress, gateway }: RulesCommandOptions): void {
  const define = (name: keyof typeof rulesHelp) => addAddress(rules.command(name).description(rulesHelp[name]))
  const commands = () => import('./rules.ts')
  define('list')
    .option('--json', jsonHelp.rules)
    .action(async options => (await commands()).listRules(await gateway(options), options))
  addRuleOptions(define('add').addArgument(effectArgument()))
    .option('--json', jsonHelp.rule)
    .addHelpText('after', moreHelp.rulesAdd)
    .action(async (effect: RuleEffect, options) => (await commands()).addRule(await gateway(options), effect, options))
  addRuleOptions(define('edit').argument('<rule>', argumentHelp.rule))
    .option('--json', jsonHelp.rule)
    .action(async (id: string, options) => (await commands()).editRule(await gateway(options), id, options))
  for (const name of ['pause', 'resume'] as const)
    define(name)
      .argument('<rule>', argumentHelp.rule)
      .action(async (id: string, options) => (await commands()).pauseRule(await gateway(options), id, name === 'pause'))
  define('remove')
    .argument('<rule>', argumentHelp.rule)
    .action(async (id: string, options) => (await commands()).removeRule(await gateway(options), id))
  define('check')
    .argument('<command...>', argumentHelp.checkedCommand)
    .option('--cwd <folder>', ruleOptionHelp.checkCwd)
    .option('--json', jsonHelp.verdict)
    .action(async (words: string[], options) => (await commands()).checkCommand(await gateway(options), words, options))
  addRuleOptions(define('preview').addArgument(effectArgument()))
    .option('--json', jsonHelp.preview)
    .action(async (effect: RuleEffect, options) =>
      (await commands()).previewRule(await gateway(options), effect, options),
    )
  define('explain')
    .argument('<request>', argumentHelp.request)
    .option('--json', jsonHelp.verdict)
    .action(async (id: string, options) => (await commands()).explainRequest(await gateway(options), id, options))
  define('import')
    .argument('[file]', argumentHelp.settingsFile)
    .option('--cwd <folder>', ruleOptionHelp.importCwd)
    .option('--dry-run', ruleOptionHelp.dryRun)
    .addHelpText('after', moreHelp.rulesImport)
    .action(async (file: string | undefined, options) =>
      (await commands()).importRules(await gateway(options), file, options),
    )
}

function effectArgument(): Argument {
  return new Argument('<effect>', argumentHelp.effect).choices(RuleEffect.options)
}

function addRuleOptions(command: Command): Command {
  return command
    .option('--command <command>', ruleOptionHelp.command)
    .addOption(new Option('--args <how>', ruleOptionHelp.args).choices(['exact', 'grammar']))
    .addOption(new Option('--group <group>', ruleOptionHelp.group).choices(CommandGroup.options))
    .option('--path <path>', ruleOptionHelp.path)
    .option('--network-host <host>', ruleOptionHelp.host)
    .option('--mcp <server/tool>', ruleOptionHelp.mcp)
    .option('--tool <name>', ruleOptionHelp.tool)
    .addOption(new Option('--action <kind>', ruleOptionHelp.action).choices(ActionKind.options))
    .option('--cwd <folder>', ruleOptionHelp.cwd)
    .option('--session <id>', ruleOptionHelp.session)
    .option('--driver <name>', ruleOptionHelp.driver)
    .option('--expires <time>', ruleOptionHelp.expires)
    .option('--uses <n>', ruleOptionHelp.uses)
    .addOption(new Option('--until <end>', ruleOptionHelp.until).choices(['turn', 'session']))
    .option('--message <text>', ruleOptionHelp.message)
    .option('--note <text>', ruleOptionHelp.note)
}
