/** Tests in which folders the parts of a command can run. */
import { expect, it } from 'vitest'
import { parseCommand, workingFolders } from '../../src/index.ts'

it.each<[string, string[][]]>([
  ['ls', [['/w']]],
  ['cd a', [['/w']]],
  ['cd a && ls', [['/w'], ['/w/a']]],
  ['cd a && cd b && ls | wc', [['/w'], ['/w/a'], ['/w/a/b'], ['/w/a/b']]],
  ['cd a && cd .. && ls', [['/w'], ['/w/a'], ['/w']]],
  ['cd /x/y/../z && ls', [['/w'], ['/x/z']]],
  ['cd a; ls', [['/w'], ['/w', '/w/a']]],
  ['cd a || ls', [['/w'], ['/w']]],
  ['cd a || ls; pwd', [['/w'], ['/w'], ['/w', '/w/a']]],
  ['ls && cd a && pwd', [['/w'], ['/w'], ['/w/a']]],
  ['ls || cd a && pwd', [['/w'], ['/w'], ['/w', '/w/a']]],
  ['ls; cd a && pwd', [['/w'], ['/w'], ['/w/a']]],
  ['cd a && ls; pwd', [['/w'], ['/w/a'], ['/w', '/w/a']]],
  ['cd a && ls || pwd', [['/w'], ['/w/a'], ['/w', '/w/a']]],
  ['cd ../../.. && ls', [['/w'], ['/']]],
])('the parts of %s run in %j', (text, expected) => {
  const parsed = parseCommand(text)
  expect(parsed.provable && workingFolders(parsed.segments, '/w').map(folders => [...folders].sort())).toEqual(expected)
})
