/** A plugin for mutation testing: leaves out texts that only people read, because rewording one should not fail a test. These are the message and the detail of a fault, and the labels of changes. */

function reasonToIgnore(path) {
  const { parentPath } = path
  if (parentPath?.isNewExpression() && parentPath.node.callee.name === 'Fault' && path.listKey === 'arguments')
    return path.key > 0 ? 'the message and the detail of a fault are for people' : undefined
  if (parentPath?.isObjectProperty() && parentPath.node.key.name === 'label') return 'a label names a change in logs'
  return undefined
}

export const strykerPlugins = [{ kind: 'Ignore', name: 'texts', value: { shouldIgnore: reasonToIgnore } }]
