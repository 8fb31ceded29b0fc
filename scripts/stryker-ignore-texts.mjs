/** A plugin for mutation testing: leaves out texts that only people read, because rewording one should not fail a test. These are the messages of errors, the details of faults, descriptions in schemas, and labels of changes. */

/** For each class or function with a text among its arguments: the position of the first such argument. */
const firstTextArgument = { Error: 0, Fault: 1, WrongRequest: 1, describe: 0, tooMany: 0 }

function reasonToIgnore(path) {
  const { parentPath } = path
  if (parentPath?.isNewExpression() || parentPath?.isCallExpression()) {
    const { callee } = parentPath.node
    const name = callee.type === 'MemberExpression' ? callee.property.name : callee.name
    if (path.listKey === 'arguments' && Object.hasOwn(firstTextArgument, name) && path.key >= firstTextArgument[name])
      return 'people read this text'
  }
  if (parentPath?.isObjectProperty() && parentPath.node.key.name === 'label') return 'a label names a change in logs'
  return undefined
}

export const strykerPlugins = [{ kind: 'Ignore', name: 'texts', value: { shouldIgnore: reasonToIgnore } }]
