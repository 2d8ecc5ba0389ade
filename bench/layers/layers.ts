// Which layer of the hot path a sample of the event loop belongs to, and what each layer may cost.

export interface CallFrame {
  readonly functionName: string
  readonly url: string
}

export interface Profile {
  readonly nodes: readonly {
    readonly id: number
    readonly callFrame: CallFrame
    readonly children?: readonly number[]
  }[]
  readonly samples?: readonly number[]
  /** In microseconds, before each sample. */
  readonly timeDeltas?: readonly number[]
}

/** By a part of the file's path, the first that fits. */
const places = [
  ['admission', /platform\/http\/admission\//],
  [
    'envelope',
    /packages\/protocol\/(src\/)?(base64|encryption|envelope|keys|node-workarounds|opening|sealing|signing)\b|core\/keys\//,
  ],
  ['schema', /packages\/protocol\/|node_modules\/(@sinclair\/)?typebox\//],
  ['store', /\/store\/|platform\/database\/|node_modules\/(pg|postgres|pg-[a-z]+)\//],
  ['log and metrics', /platform\/(observability|request-log)\/|runtime\/log\b/],
  ['HTTP', /platform\/http\/|adapters\/merchant-api\//],
  ['order', /\/(core|app|platform)\//],
] as const

export type Layer = (typeof places)[number][0] | 'Node: sockets, HTTP, streams' | 'garbage collection'

/** Of a create, in hundredths of what the bare program spends on its event loop for one, in the same run. */
export const budgets: Readonly<Record<Layer, number>> = {
  'Node: sockets, HTTP, streams': 26,
  HTTP: 22,
  admission: 4,
  envelope: 48,
  schema: 24,
  order: 21,
  store: 25,
  'log and metrics': 3,
  'garbage collection': 8,
}

/** Microseconds of each layer. Node's own frames belong to the nearest caller that is the program's. */
export function timesOf({ nodes, samples = [], timeDeltas = [] }: Profile): Map<Layer | undefined, number> {
  const parents = new Map(
    nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)),
  )
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]))
  const layers = new Map<number, Layer | undefined>()
  const layerOf = (id: number): Layer | undefined => {
    if (!layers.has(id)) layers.set(id, find(id))
    return layers.get(id)
  }
  const find = (id: number): Layer | undefined => {
    const { functionName, url } = frames.get(id) ?? { functionName: '(idle)', url: '' }
    if (functionName === '(idle)') return undefined
    if (functionName === '(garbage collector)') return 'garbage collection'
    const place = !url.startsWith('node:') && places.find(([, path]) => path.test(url))
    if (place) return place[0]
    const parent = parents.get(id)
    return parent === undefined ? 'Node: sockets, HTTP, streams' : layerOf(parent)
  }
  const times = new Map<Layer | undefined, number>()
  for (const [at, id] of samples.entries()) {
    const layer = layerOf(id)
    times.set(layer, (times.get(layer) ?? 0) + (timeDeltas[at + 1] ?? 0))
  }
  return times
}

/** Measurements vary by that much. */
export const allowance = 1.2

export function isOver(layer: Layer, hundredths: number): boolean {
  return hundredths > budgets[layer] * allowance
}
