// Names under which statements are prepared, once a connection. A pooler that lends out another connection for every
// transaction may not keep them; then they are given up, and every statement is sent in full.
import { createHash } from 'node:crypto'
import { isNotPrepared } from './transient.ts'

export interface Statement {
  readonly text: string
  readonly values?: readonly unknown[]
  /** Parsed and planned once a connection under this name. */
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

  /** With a mark of the text: two versions of the gateway behind one pooler never take one for the other. */
  #nameOf(name: string, text: string): string {
    const known = this.#names.get(text)
    if (known !== undefined) return known
    const marked = `${name}-${createHash('sha256').update(text).digest('hex').slice(0, 8)}`
    this.#names.set(text, marked)
    return marked
  }
}
