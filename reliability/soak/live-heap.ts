// What a process holds on to: its heap after a full collection, by Node's own debugger. What it takes of the machine's memory
// goes up and down with the collector and with what the kernel takes back, and says so much less surely.
import { once } from 'node:events'

export interface LiveHeap {
  /** Collects first. */
  readonly megabytes: () => Promise<number>
  readonly close: () => void
}

/** Listens on a port of the system's choice, and says on which. */
export const debuggerOptions = '--inspect=127.0.0.1:0'
const saysWhere = /Debugger listening on (ws:\/\/\S+)/

/** `output`: of the process, from its start on. */
export async function openLiveHeap(output: string): Promise<LiveHeap> {
  const [, url] = saysWhere.exec(output) ?? []
  if (url === undefined) throw new Error('the process did not say where its debugger listens')
  const socket = new WebSocket(url)
  await once(socket, 'open')
  let asked = 0
  const ask = async (method: string) => {
    const id = ++asked
    socket.send(JSON.stringify({ id, method }))
    for (;;) {
      const [{ data }] = await once(socket, 'message')
      const answer = JSON.parse(data)
      if (answer.id === id) return answer.result
    }
  }
  return {
    async megabytes() {
      await ask('HeapProfiler.collectGarbage')
      const { usedSize } = await ask('Runtime.getHeapUsage')
      return usedSize / 2 ** 20
    },
    close: () => socket.close(),
  }
}
