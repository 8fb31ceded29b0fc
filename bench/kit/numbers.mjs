/** Statistics over samples. */
export function median(values) {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

export function round(value, digits = 3) {
  return Number(value.toPrecision(Math.max(digits, Math.ceil(Math.log10(Math.abs(value) + 1)))))
}

export const msSince = start => Number(process.hrtime.bigint() - start) / 1e6

/** Returns the median of each property of objects with the same properties. */
export function medians(objects) {
  return Object.fromEntries(Object.keys(objects[0]).map(name => [name, median(objects.map(object => object[name]))]))
}
