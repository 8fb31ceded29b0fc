/** A value that is followed only once it has stood still for a moment: a search does not ask at every letter. */
import { useEffect, useState } from 'react'

export function useDebounced<T>(value: T, forMs = 200): T {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), forMs)
    return () => clearTimeout(timer)
  }, [value, forMs])
  return settled
}
