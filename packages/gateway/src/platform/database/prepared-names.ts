// Assigns names to prepared statements, one per connection. If a pooler does not keep prepared statements, all
// statements are sent in full from then on.
import { createHash } from 'node:crypto'
import { isNotPrepared } from './transient.ts'

export interface Statement {
  readonly text: string
  readonly values?: readonly unknown[]
  readonly name?: string
}

export class PreparedNames {
  readonly #names = new Map<string, string>()
  readonly #onGivenUp: (() => void) | undefined
  #isUsed: boolean

  constructor({ isUsed, onGivenUp }: { isUsed: boolean; onGivenUp?: (() => void) | undefined }) {
    this.#isUsed = isUsed
    this.#onGivenUp = onGivenUp
  }

  apply(statement: Statement): Statement {
    const { name, ...unnamed } = statement
    if (name === undefined) return statement
    return this.#isUsed ? { ...unnamed, name: this.#nameOf(name, statement.text) } : unnamed
  }

  giveUpAfter(error: unknown): void {
    if (!this.#isUsed || !isNotPrepared(error)) return
    this.#isUsed = false
    this.#onGivenUp?.()
  }

  /**
   * Includes a hash of the text, so that two versions of the gateway behind one pooler never confuse their
   * statements.
   */
  #nameOf(name: string, text: string): string {
    const known = this.#names.get(text)
    if (known !== undefined) return known
    const marked = `${name}-${createHash('sha256').update(text).digest('hex').slice(0, 8)}`
    this.#names.set(text, marked)
    return marked
  }
}
