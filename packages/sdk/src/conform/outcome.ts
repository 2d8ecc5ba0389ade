// The outcome of a check. A check that returns has passed; the other two outcomes are thrown.

/** The gateway deviates from the clause. */
export class Deviation extends Error {
  override readonly name = 'Deviation'
}

/** It is not visible from outside, or the precondition did not occur. */
export class NotTestable extends Error {
  override readonly name = 'NotTestable'
}

export function expect(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Deviation(message)
}

/** A value for messages: short, as JSON. */
export function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing'
  return text.length <= 120 ? text : `${text.slice(0, 120)}…`
}
