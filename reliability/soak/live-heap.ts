// What a program holds on to: its objects, texts and arrays after a full collection, by Node's own debugger. V8's compiled
// code is left out, of which there is more for hours while more of it is optimised. What a process takes of the machine's
// memory goes up and down with the collector and with what the kernel takes back, and says so much less surely.
import { once } from 'node:events'

export interface LiveHeap {
  /** Stops the process for a second or two, and the snapshot takes memory of its own there: not for every look. */
  readonly heldBytes: () => Promise<number>
  readonly close: () => void
}

/** As much of a snapshot as is read here: see V8's heap-snapshot-generator. */
interface Snapshot {
  readonly snapshot: {
    readonly meta: { readonly node_fields: readonly string[]; readonly node_types: readonly unknown[] }
  }
  /** The fields of one node after those of the other. */
  readonly nodes: readonly number[]
}

/** Listens on a port of the system's choice, and says on which. */
export const debuggerOptions = '--inspect=127.0.0.1:0'
const saysWhere = /Debugger listening on (ws:\/\/\S+)/
/** V8's own: compiled code, shapes of objects, lists of what depends on them. */
const ownOfEngine = new Set(['code', 'hidden', 'object shape', 'synthetic'])

/** `output`: of the process, from its start on. */
export async function openLiveHeap(output: string): Promise<LiveHeap> {
  const [, url] = saysWhere.exec(output) ?? []
  if (url === undefined) throw new Error('the process did not say where its debugger listens')
  const socket = new WebSocket(url)
  await once(socket, 'open')
  let asked = 0
  let chunks: string[] = []
  const ask = async (method: string) => {
    const id = ++asked
    const answered = Promise.withResolvers<void>()
    socket.onmessage = ({ data }) => {
      const message = JSON.parse(data)
      if (message.method === 'HeapProfiler.addHeapSnapshotChunk') chunks.push(message.params.chunk)
      if (message.id === id) answered.resolve()
    }
    socket.send(JSON.stringify({ id, method }))
    await answered.promise
  }
  return {
    async heldBytes() {
      chunks = []
      await ask('HeapProfiler.collectGarbage')
      await ask('HeapProfiler.takeHeapSnapshot')
      return heldIn(JSON.parse(chunks.join('')))
    },
    close: () => socket.close(),
  }
}

function heldIn({ snapshot, nodes }: Snapshot): number {
  const { node_fields: fields, node_types: types } = snapshot.meta
  // Safe: V8 writes the names of the types in the place of the first field.
  const names = types[0] as readonly string[]
  const [typeAt, sizeAt] = [fields.indexOf('type'), fields.indexOf('self_size')]
  let bytes = 0
  for (let node = 0; node < nodes.length; node += fields.length) {
    const name = names[nodes[node + typeAt] ?? -1]
    if (name !== undefined && !ownOfEngine.has(name)) bytes += nodes[node + sizeAt] ?? 0
  }
  return bytes
}
