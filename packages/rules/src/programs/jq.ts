/** The grammar of `jq`: filters that do not read the environment or other files. */
import { flagsOf } from './grammar.ts'
import { type Program, programOf } from './grammar-check.ts'

/**
 * `env` and `$ENV` print environment variables; `import`, `include` and `$__prog_args` read more than the input. These names are
 * refused everywhere, also as keys and in strings: jq allows spaces and comments between `$` and a name.
 */
const forbidden = /\b(?:env|ENV|import|include|__\w*|get_search_list|input_filename|debug|modulemeta)\b/

export const jq: Program = programOf({
  group: 'only-reads',
  style: 'clusters',
  // The list omits -f, -L, --slurpfile, --rawfile and --args, which read files or change what operands mean.
  flags: flagsOf(
    '-r -c -s -n -e -S -C -M -a -j -R -h --raw-output --compact-output --slurp --null-input --exit-status --sort-keys',
    '--color-output --monochrome-output --ascii-output --join-output --raw-input --tab --indent=number --stream --seq',
  ),
  operands: { first: ['text'], others: 'file', least: 1 },
  refuses: ({ operands }) => (forbidden.test(operands[0] ?? '') ? 'The jq filter reads more than its input.' : null),
})
