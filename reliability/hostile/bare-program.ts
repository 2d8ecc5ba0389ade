// A program beside the gateway that refuses everybody at the door, which is the least that any program can do. What the
// same attack on it does to the gateway's honest clients is the machine's share: attackers, servers and clients have the
// same cores and the same network.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'

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
  // One that is gone before it is looked at has no address, and is not refused.
  const server = createServer((socket) => socket.on('error', () => {}).destroy())
  Object.assign(server, { blockList: { check: () => true } })
  server.listen(0, '127.0.0.1', () => process.send?.(server.address()))
}
