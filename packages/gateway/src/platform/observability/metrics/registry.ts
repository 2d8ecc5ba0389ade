// Counters, gauges and histograms of this process. Written by hand for the hot path: label values are looked up,
// never built, so counting allocates nothing.

export interface FamilyOptions {
  readonly name: string
  readonly help: string
  readonly labels?: Readonly<Record<string, string>>
  /** Label names whose values vary, two at most. */
  readonly by?: readonly [] | readonly [string] | readonly [string, string]
}

export interface GaugeOptions extends FamilyOptions {
  /** How to merge the gauges of several processes. */
  readonly merge?: 'sum' | 'max'
}

export interface HistogramOptions extends FamilyOptions {
  /** Upper bounds of the buckets, ascending. */
  readonly bounds: readonly number[]
}

export type Snapshot = readonly FamilySnapshot[]

export interface FamilySnapshot {
  readonly name: string
  readonly help: string
  readonly kind: 'counter' | 'gauge' | 'histogram'
  readonly merge: 'sum' | 'max'
  readonly labelNames: readonly string[]
  readonly bounds: readonly number[]
  readonly samples: readonly Sample[]
}

export interface Sample {
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
  /** Counts per bucket of a histogram, including the one above the last bound. */
  readonly buckets: readonly number[]
}

/** Bounds memory for labels from outside; further values are counted as `other`. */
export const maxChildren = 1_000
const other = 'other'

export class Counter {
  value = 0

  add(amount = 1): void {
    this.value += amount
  }
}

export class Gauge {
  value = 0

  set(value: number): void {
    this.value = value
  }
}

export class Histogram {
  readonly bounds: readonly number[]
  readonly buckets: Float64Array
  sum = 0

  constructor(bounds: readonly number[]) {
    this.bounds = bounds
    this.buckets = new Float64Array(bounds.length + 1)
  }

  observe(value: number): void {
    const { bounds, buckets } = this
    let index = 0
    // With about fifteen bounds, a linear scan is faster than a binary search.
    while (index < bounds.length && value > (bounds[index] as number)) index++
    buckets[index] = (buckets[index] as number) + 1
    this.sum += value
  }
}

type Metric = Counter | Gauge | Histogram

export class Family<M extends Metric> {
  readonly #make: () => M
  readonly #children = new Map<string, Map<string, M>>()
  #size = 0

  constructor(make: () => M) {
    this.#make = make
  }

  of(first = '', second = ''): M {
    return this.#children.get(first)?.get(second) ?? this.#grow(first, second)
  }

  *entries(): Iterable<readonly [string, string, M]> {
    for (const [first, children] of this.#children)
      for (const [second, metric] of children) yield [first, second, metric]
  }

  #grow(first: string, second: string): M {
    if (this.#size >= maxChildren && first !== other) return this.of(other, second === '' ? '' : other)
    this.#size++
    const metric = this.#make()
    const children = this.#children.get(first) ?? new Map<string, M>()
    this.#children.set(first, children.set(second, metric))
    return metric
  }
}

export class Registry {
  readonly #families: { readonly read: () => FamilySnapshot }[] = []
  readonly #beforeReading: (() => void)[] = []

  counters(options: FamilyOptions): Family<Counter> {
    return this.#add(options, { kind: 'counter', merge: 'sum' }, () => new Counter())
  }

  gauges(options: GaugeOptions): Family<Gauge> {
    return this.#add(options, { kind: 'gauge', merge: options.merge ?? 'sum' }, () => new Gauge())
  }

  histograms(options: HistogramOptions): Family<Histogram> {
    const { bounds } = options
    return this.#add(options, { kind: 'histogram', merge: 'sum', bounds }, () => new Histogram(bounds))
  }

  /** Copies values that are counted elsewhere before each read. */
  beforeReading(carryOver: () => void): void {
    this.#beforeReading.push(carryOver)
  }

  snapshot(): Snapshot {
    for (const carryOver of this.#beforeReading) carryOver()
    return this.#families.map(({ read }) => read())
  }

  #add<M extends Metric>(
    { name, help, labels = {}, by = [] }: FamilyOptions,
    shape: Pick<FamilySnapshot, 'kind' | 'merge'> & { bounds?: readonly number[] },
    make: () => M,
  ): Family<M> {
    const family = new Family(make)
    if (by.length === 0) family.of()
    const [firstName, secondName] = by
    const read = (): FamilySnapshot => ({
      name,
      help,
      labelNames: [...Object.keys(labels), ...by],
      bounds: [],
      ...shape,
      samples: [...family.entries()].map(([first, second, metric]) => ({
        labels: {
          ...labels,
          ...(firstName !== undefined && { [firstName]: first }),
          ...(secondName !== undefined && { [secondName]: second }),
        },
        value: metric instanceof Histogram ? metric.sum : metric.value,
        buckets: metric instanceof Histogram ? [...metric.buckets] : [],
      })),
    })
    this.#families.push({ read })
    return family
  }
}
