/** Whether something has lasted long enough to be worth saying: a skeleton that flashes is worse than none. */
import { useEffect, useState } from 'react'

const lateMs = 200

export function useDelay(): boolean {
  const [late, setLate] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), lateMs)
    return () => clearTimeout(timer)
  }, [])
  return late
}
