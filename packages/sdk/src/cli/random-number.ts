// Numbers for orders and refunds made on the command line: by time, with enough randomness not to meet another.
import type { World } from './terminal.ts'

export function randomNumber(
  prefix: string,
  { now, randomBytes }: Pick<World, 'now' | 'randomBytes'>,
): string {
  const time = new Date(now()).toISOString().slice(0, 19).replace(/\D/g, '')
  return `${prefix}-${time}-${Buffer.from(randomBytes(4)).toString('hex')}`
}
