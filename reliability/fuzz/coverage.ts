// Which of our own code ran since the last look, block by block, as V8 itself counts it. It needs no native tool and no
// instrumented copy of the program, and sees a gateway in this process as well as a plain function.
import { type Profiler, Session } from 'node:inspector/promises'

/** Of each function, a byte for each character of its text: 1 where that character was reached. */
export type Reached = ReadonlyMap<string, Uint8Array>

const ours = /\/packages\/(?:protocol|gateway|sdk)\/src\//

export class Coverage {
  readonly #session = new Session()
  readonly #known = new Map<string, Uint8Array>()

  async start(): Promise<void> {
    this.#session.connect()
    await this.#session.post('Profiler.enable')
    await this.#session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true })
  }

  /** Since the last call. About 5 ms, so it is worth asking for many inputs at once. */
  async take(): Promise<Reached> {
    const { result } = await this.#session.post('Profiler.takePreciseCoverage')
    return new Map(result.filter(({ url }) => ours.test(url)).flatMap(reachedIn))
  }

  isNew(reached: Reached): boolean {
    return [...reached].some(([name, bytes]) => {
      const known = this.#known.get(name)
      return !known || bytes.some((byte, at) => byte > (known[at] ?? 0))
    })
  }

  learn(reached: Reached): void {
    for (const [name, bytes] of reached) {
      const known = this.#known.get(name)
      if (!known) this.#known.set(name, bytes)
      else for (const [at, byte] of bytes.entries()) if (byte > 0) known[at] = 1
    }
  }

  /** Functions that ran at all. */
  get functions(): number {
    return this.#known.size
  }

  stop(): void {
    this.#session.disconnect()
  }
}

function reachedIn({ url, functions }: Profiler.ScriptCoverage): [string, Uint8Array][] {
  return functions.flatMap(({ ranges }): [string, Uint8Array][] => {
    const [whole] = ranges
    if (!whole || whole.count === 0) return []
    const bytes = new Uint8Array(whole.endOffset - whole.startOffset)
    // An inner range comes after the one that it is part of.
    for (const { startOffset, endOffset, count } of ranges)
      bytes.fill(count > 0 ? 1 : 0, startOffset - whole.startOffset, endOffset - whole.startOffset)
    return [[`${url} ${whole.startOffset}`, bytes]]
  })
}
