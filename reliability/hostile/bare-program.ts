// What the machine alone does to honest clients: the same attack on a program that refuses everybody else at the door and
// answers honest clients at once. No program could do less, so what they still wait for is that attackers, server and
// clients share the machine's cores and its network.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { honestAddress } from './honest.ts'

export async function withBareProgram<Result>(work: (url: string) => Promise<Result>): Promise<Result> {
  const child = fork(import.meta.filename)
  try {
    // Safe: it tells where it listens.
    const [{ port }] = (await once(child, 'message')) as [AddressInfo]
    return await work(`http://127.0.0.1:${port}`)
  } finally {
    child.kill()
    await once(child, 'exit')
  }
}

if (process.argv[1] === import.meta.filename) {
  const server = createServer((request, response) => {
    request.resume()
    response.end('{"code":20000,"msg":"SUCCESS"}')
  })
  Object.assign(server, { blockList: { check: (address: string) => address !== honestAddress } })
  server.listen(0, '127.0.0.1', () => process.send?.(server.address()))
}
