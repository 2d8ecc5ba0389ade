// What the machine alone does to honest clients: the same attack on a program that has nothing to do. Attackers, server
// and honest clients share its cores and its network, which no program can mend.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'

const script = join(import.meta.dirname, '../../bench/servers/page.ts')
const answer = '{"code":20000,"msg":"SUCCESS"}'

/** Answers everything at once with the same few bytes, without reading it. */
export async function withBareProgram<Result>(work: (url: string) => Promise<Result>): Promise<Result> {
  const child = fork(script, { env: { ...process.env, BENCH: JSON.stringify({ page: answer }) } })
  try {
    // Safe: it tells where it listens.
    const [{ port }] = (await once(child, 'message')) as [AddressInfo]
    return await work(`http://127.0.0.1:${port}`)
  } finally {
    child.kill()
    await once(child, 'exit')
  }
}
