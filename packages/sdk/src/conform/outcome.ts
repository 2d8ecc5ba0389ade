// What a check of the interface comes to. A check that returns has passed; the other two outcomes are thrown.

/** The gateway does something else than the clause says. */
export class Deviation extends Error {
  override readonly name = 'Deviation'
}

/** Nothing outside the gateway shows it, or what would show it did not come about. */
export class NotTestable extends Error {
  override readonly name = 'NotTestable'
}

export function expect(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Deviation(message)
}

/** How a value is named in a message: short, and as JSON. */
export function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing'
  return text.length <= 120 ? text : `${text.slice(0, 120)}…`
}
