// Numbers for orders and refunds created on the command line: the time, and enough randomness to be unique.
import type { World } from './terminal.ts'

export function randomNumber(
  prefix: string,
  { now, randomBytes }: Pick<World, 'now' | 'randomBytes'>,
): string {
  const time = new Date(now()).toISOString().slice(0, 19).replace(/\D/g, '')
  return `${prefix}-${time}-${Buffer.from(randomBytes(4)).toString('hex')}`
}
