/** Formats the results as a table for people, or as one JSON object for programs. */
import { arch, cpus, platform } from 'node:os'
import { figures, goalOf, isMet } from './figures.mjs'
import { round } from './kit/numbers.mjs'

/** Returns the names of the figures whose missed goals fail the run. */
export function missedOf(results) {
  return Object.entries(results)
    .filter(([name, { measured }]) => !figures[name].reported && !isMet(figures[name], measured))
    .map(([name]) => name)
}

export function tableOf(results) {
  const rows = Object.entries(results).map(([name, { measured, bare }]) => {
    const figure = figures[name]
    const goal = goalOf(figure)
    const verdict =
      goal === '' ? 'reported' : isMet(figure, measured) ? 'met' : figure.reported ? 'missed (reported)' : 'MISSED'
    return [
      name,
      format(measured, figure.unit),
      format(bare, figure.unit),
      (measured / bare).toFixed(2),
      goal,
      verdict,
      figure.counter,
    ]
  })
  const all = [['figure', 'measured', 'bare', 'ratio', 'goal', '', 'bare program'], ...rows]
  const widths = all[0].map((_, column) => Math.max(...all.map(row => row[column].length)))
  return all
    .map(row =>
      row
        .map((cell, column) => cell.padEnd(widths[column]))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

function format(value, unit) {
  return `${round(value).toLocaleString('en-US', { maximumFractionDigits: 4 })}${unit && ` ${unit}`}`
}

/** Returns an object that contains each figure under its name, and the measurement of the bare program under the same name with the prefix `bare_`. */
export function objectOf(results, failures, quick) {
  const entries = Object.entries(results)
  return {
    ...Object.fromEntries(
      entries.flatMap(([name, { measured, bare }]) => [
        [name, round(measured, 4)],
        [`bare_${name}`, round(bare, 4)],
      ]),
    ),
    goals: Object.fromEntries(entries.map(([name]) => [name, goalOf(figures[name]) || null])),
    missed: missedOf(results),
    failed: failures,
    quick,
    machine: {
      node: process.version,
      platform: `${platform()}-${arch()}`,
      cores: cpus().length,
      cpu: cpus()[0]?.model ?? '',
    },
  }
}
