/** The tables in docs/agents.md and docs/watchers.md that show what the suite has measured with each agent. */

/** @typedef {Readonly<Record<string, Readonly<Record<string, string>>>>} Results What was measured, by agent and row. */

/**
 * Renders a table with a column for each agent.
 * @param {readonly string[]} agents
 * @param {readonly (readonly [title: string, outcomeOf: (agent: string) => string])[]} rows
 */
export function renderTable(agents, rows) {
  const line = cells => `| ${cells.join(' | ')} |`
  return [
    line(['', ...agents]).replace('|  |', '| |'),
    `|${'---|'.repeat(agents.length + 1)}`,
    ...rows.map(([title, outcomeOf]) => line([title, ...agents.map(outcomeOf)])),
  ].join('\n')
}

/**
 * Replaces the cells of the agents that were measured, in every table with their columns.
 * @param {string} markdown
 * @param {Results} results
 */
export function withResults(markdown, results) {
  /** @type {readonly string[]} */
  let columns = []
  const lines = markdown.split('\n').map(line => {
    if (!line.startsWith('|')) {
      columns = []
      return line
    }
    const cells = line
      .slice(1, -1)
      .split('|')
      .map(cell => cell.trim())
    const [title = ''] = cells
    if (title === '') columns = cells
    const changed = cells.map((cell, index) => results[columns[index] ?? '']?.[title] ?? cell)
    return changed.join() === cells.join() ? line : `| ${changed.join(' | ')} |`
  })
  return lines.join('\n')
}
