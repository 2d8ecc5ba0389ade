// Decides which lane sends next. A lane is one merchant's callbacks to one destination. Lanes take turns, with limits
// per lane, host, merchant and pace, so that a slow receiver delays only itself. Holds lanes, never callbacks.
import assert from 'node:assert/strict'

export interface Lane {
  readonly merchantId: string
  readonly host: string
  readonly destinationId: string
}

export interface LaneRequest extends Lane {
  readonly most: number
}

export interface LaneLimits {
  readonly inFlight: number
  readonly inFlightPerHost: number
  readonly inFlightPerMerchant: number
}

export interface Health {
  readonly failures: number
  readonly pausedUntilMs: number | undefined
}

export interface LaneHealth {
  readonly host: Health
  readonly destination: Health
}

export interface LaneEnd {
  /** Answered without signs of trouble. */
  readonly isGood: boolean
  /** The host responded, whatever the destination's answer. */
  readonly isHostThere: boolean
  readonly durationMs: number
}

/** Fast: the last response was good and quick. Slow: slow or failing. */
type Pace = 'fast' | 'unknown' | 'slow'

interface ReadyLane extends Lane {
  /** New work arrived since the last plan, which a running claim may have missed. */
  hasNews: boolean
}

interface HostLoad {
  /** By the pace of their destinations. */
  readonly inFlight: Record<Pace, number>
  destinations: number
  /** The pace of an unknown destination: that of the previous new one. */
  paceOfNew: Pace
  failures: number
  pausedUntilMs: number | undefined
}

interface DestinationLoad {
  readonly host: HostLoad
  inFlight: number
  pace: Pace
  /** No attempt has ended yet; its pace is assumed from the host. */
  isNew: boolean
  failures: number
  pausedUntilMs: number | undefined
}

/** The longest response of a fast destination. Slower ones would hold the slots that healthy ones need. */
export const fastWithinMs = 1_000
/** The share of all slots per pace. The rest is reserved for faster destinations. */
const shares: Record<Pace, number> = { fast: 1, unknown: 3 / 4, slow: 1 / 4 }
/** Destinations of a host that are not fast share this many slots. */
const perHost: Record<Pace, number> = { fast: Number.POSITIVE_INFINITY, unknown: 8, slow: 4 }
/** The most of a host's slots for one destination. If it starts to hang, its neighbors keep the rest. */
const destinationShare = 7 / 8
/** The share of each claim for fast lanes, which go first. */
const fastShare = 3 / 4
/** Claimed per turn, so that lanes of one host or merchant share its slots evenly. */
const turn = 8
const maxLanes = 20_000
const maxHosts = 20_000
const maxDestinations = 20_000

export class DeliveryLanes {
  readonly #limits: LaneLimits
  readonly #perDestination: number
  /** In turn order. */
  readonly #ready = new Map<string, ReadyLane>()
  readonly #hosts = new Map<string, HostLoad>()
  readonly #destinations = new Map<string, DestinationLoad>()
  readonly #merchants = new Map<string, number>()
  readonly #inFlight: Record<Pace, number> = { fast: 0, unknown: 0, slow: 0 }

  constructor(limits: LaneLimits) {
    this.#limits = limits
    this.#perDestination = Math.ceil(limits.inFlightPerHost * destinationShare)
  }

  /** The lane has or may have due work. Beyond the size limit, it is found again by polling. */
  makeReady({ merchantId, host, destinationId }: Lane): void {
    const key = laneKey({ merchantId, host, destinationId })
    const known = this.#ready.get(key)
    if (known) known.hasNews = true
    else if (this.#ready.size < maxLanes || this.#dropPaused()) {
      this.#ready.set(key, { merchantId, host, destinationId, hasNews: false })
    }
  }

  /** Paused lanes are not planned and must not fill the lane limit. */
  #dropPaused(): boolean {
    for (const [key, { host }] of this.#ready) {
      if (this.#pauseEndOf(key, host) !== undefined) return this.#ready.delete(key)
    }
    return false
  }

  get readyLanes(): number {
    return this.#ready.size
  }

  get inFlight(): number {
    return sum(this.#inFlight)
  }

  noteHost(host: string, { failures, pausedUntilMs }: Health): void {
    const load = this.#host(host)
    load.failures = failures
    load.pausedUntilMs = pausedUntilMs
  }

  noteDestination(lane: Lane, { failures, pausedUntilMs }: Health): void {
    // A healthy destination needs no entry, unless it is known.
    const key = laneKey(lane)
    const load = failures > 0 ? this.#destination(lane, key) : this.#destinations.get(key)
    if (!load) return
    load.failures = failures
    load.pausedUntilMs = pausedUntilMs
    if (failures > 0) this.#setPace(load, 'slow')
  }

  /** Returns the lanes to claim from with the count for each, `most` in total. */
  plan({ most, nowMs }: { most: number; nowMs: number }): LaneRequest[] {
    const planned = new Plan(most)
    const fast: PlannedLane[] = []
    const others: PlannedLane[] = []
    for (const [key, lane] of this.#ready) {
      const pace = this.#paceOf(key, lane.host)
      if (pace === 'fast') fast.push({ key, lane, pace })
      else others.push({ key, lane, pace })
    }
    const forFast = others.length === 0 ? most : Math.ceil(most * fastShare)
    this.#share(fast, { planned, upTo: forFast, nowMs })
    this.#share(others, { planned, upTo: most, nowMs })
    this.#share(fast, { planned, upTo: most, nowMs })
    for (const key of planned.keys) this.#see(key)
    return planned.requests
  }

  #see(key: string): void {
    const ready = this.#ready.get(key)
    if (ready) ready.hasNews = false
  }

  /** Distributes in rounds, so that unused slots of some lanes go to the rest. */
  #share(
    lanes: readonly PlannedLane[],
    { planned, upTo, nowMs }: { planned: Plan; upTo: number; nowMs: number },
  ) {
    let open = lanes
    while (open.length > 0 && planned.total < upTo) {
      const quantum = Math.min(turn, Math.max(1, Math.floor((upTo - planned.total) / open.length)))
      const still: PlannedLane[] = []
      for (const each of open) {
        if (planned.total >= upTo) return
        const count = Math.min(quantum, this.#slotsFor(each, planned, nowMs), upTo - planned.total)
        if (count <= 0) continue
        planned.add(each, count)
        still.push(each)
      }
      open = still
    }
  }

  #slotsFor({ key, lane, pace }: PlannedLane, planned: Plan, nowMs: number): number {
    const { inFlight, inFlightPerMerchant } = this.#limits
    const { merchantId, host } = lane
    const destination = this.#destinations.get(key)
    const ofDestination = (destination?.inFlight ?? 0) + planned.ofLane(key)
    const load = this.#hosts.get(host)
    const isProbe = load?.pausedUntilMs !== undefined || destination?.pausedUntilMs !== undefined
    if (isProbe) {
      if ((this.#pauseEndOf(key, host) ?? 0) > nowMs) return 0
      // After a pause, one callback probes. If the host was paused, any of its lanes may probe.
      if (destination?.pausedUntilMs !== undefined && ofDestination > 0) return 0
      if (load?.pausedUntilMs !== undefined && sum(load.inFlight) + planned.ofHost(host) > 0) return 0
    }
    const merchantSlots =
      inFlightPerMerchant - (this.#merchants.get(merchantId) ?? 0) - planned.ofMerchant(merchantId)
    const paceSlots = inFlight * shares[pace] - sumNotBetter(this.#inFlight, pace) - planned.notBetter(pace)
    return Math.min(
      isProbe ? 1 : Number.POSITIVE_INFINITY,
      this.#perDestination - ofDestination,
      this.#hostSlotsFor({ key, lane, pace }, planned),
      merchantSlots,
      Math.floor(paceSlots),
      inFlight - this.inFlight - planned.total,
    )
  }

  #hostSlotsFor({ lane: { host }, pace }: PlannedLane, planned: Plan): number {
    const load = this.#hosts.get(host)
    const { inFlightPerHost } = this.#limits
    const all = (load ? sum(load.inFlight) : 0) + planned.ofHost(host)
    if (load && load.failures > 0) return Math.min(inFlightPerHost, perHost.slow) - all
    const notBetter = (load ? sumNotBetter(load.inFlight, pace) : 0) + planned.notBetterAtHost(host, pace)
    return Math.min(inFlightPerHost - all, perHost[pace] - notBetter)
  }

  /** A lane that returned fewer than requested has nothing more for now. */
  claimed(request: LaneRequest, count: number): void {
    const key = laneKey(request)
    const lane = this.#ready.get(key)
    this.#ready.delete(key)
    // Moves to the end of the order.
    if (lane !== undefined && (count >= request.most || lane.hasNews)) this.#ready.set(key, lane)
    if (count === 0) return
    const { merchantId } = request
    const load = this.#destination(request, key)
    load.inFlight += count
    load.host.inFlight[load.pace] += count
    this.#inFlight[load.pace] += count
    this.#merchants.set(merchantId, (this.#merchants.get(merchantId) ?? 0) + count)
  }

  /** Only a good response can be fast. */
  ended(lane: Lane, { isGood, isHostThere, durationMs }: LaneEnd): void {
    const load = this.#leave(lane)
    const pace = isGood && durationMs <= fastWithinMs ? 'fast' : 'slow'
    if (isGood) {
      load.failures = 0
      load.pausedUntilMs = undefined
    }
    if (isHostThere) {
      load.host.failures = 0
      load.host.pausedUntilMs = undefined
    }
    if (load.isNew) load.host.paceOfNew = pace
    load.isNew = false
    this.#setPace(load, pace)
  }

  /** Not sent, which says nothing about its destination. */
  returned(lane: Lane): void {
    this.#leave(lane)
  }

  nextPauseEndMs(nowMs: number): number {
    let next = Number.POSITIVE_INFINITY
    for (const [key, { host }] of this.#ready) {
      const until = this.#pauseEndOf(key, host)
      if (until !== undefined && until > nowMs && until < next) next = until
    }
    return next
  }

  /** The later one, if both the host and the destination are paused. */
  #pauseEndOf(key: string, host: string): number | undefined {
    const ofHost = this.#hosts.get(host)?.pausedUntilMs
    const ofDestination = this.#destinations.get(key)?.pausedUntilMs
    if (ofHost === undefined || ofDestination === undefined) return ofHost ?? ofDestination
    return Math.max(ofHost, ofDestination)
  }

  #leave(lane: Lane): DestinationLoad {
    const load = this.#destinations.get(laneKey(lane))
    assert(load, 'a destination is not forgotten while something is on its way to it')
    load.inFlight--
    load.host.inFlight[load.pace]--
    this.#inFlight[load.pace]--
    const { merchantId } = lane
    const left = (this.#merchants.get(merchantId) ?? 1) - 1
    if (left > 0) this.#merchants.set(merchantId, left)
    else this.#merchants.delete(merchantId)
    return load
  }

  #setPace(load: DestinationLoad, pace: Pace): void {
    for (const inFlight of [this.#inFlight, load.host.inFlight]) {
      inFlight[load.pace] -= load.inFlight
      inFlight[pace] += load.inFlight
    }
    load.pace = pace
  }

  #paceOf(key: string, host: string): Pace {
    return this.#destinations.get(key)?.pace ?? this.#hosts.get(host)?.paceOfNew ?? 'unknown'
  }

  #host(host: string): HostLoad {
    const known = this.#hosts.get(host)
    // Reinserted, so that the map is ordered by last use.
    this.#hosts.delete(host)
    const load: HostLoad = known ?? {
      inFlight: { fast: 0, unknown: 0, slow: 0 },
      destinations: 0,
      paceOfNew: 'unknown',
      failures: 0,
      pausedUntilMs: undefined,
    }
    this.#hosts.set(host, load)
    if (this.#hosts.size > maxHosts)
      forgetOne(this.#hosts, (each) => each !== load && each.destinations === 0)
    return load
  }

  #destination({ host }: Lane, key: string): DestinationLoad {
    const known = this.#destinations.get(key)
    this.#destinations.delete(key)
    const load = known ?? this.#meet(host)
    this.#destinations.set(key, load)
    if (this.#destinations.size > maxDestinations) {
      const forgotten = forgetOne(this.#destinations, (each) => each !== load && each.inFlight === 0)
      if (forgotten) forgotten.host.destinations--
    }
    return load
  }

  #meet(host: string): DestinationLoad {
    const at = this.#host(host)
    at.destinations++
    return {
      host: at,
      inFlight: 0,
      pace: at.paceOfNew,
      isNew: true,
      failures: 0,
      pausedUntilMs: undefined,
    }
  }
}

interface PlannedLane {
  readonly key: string
  readonly lane: Lane
  readonly pace: Pace
}

class Plan {
  readonly #most: number
  readonly #requests = new Map<string, Lane & { most: number }>()
  readonly #hosts = new Map<string, Record<Pace, number>>()
  readonly #merchants = new Map<string, number>()
  readonly #paces: Record<Pace, number> = { fast: 0, unknown: 0, slow: 0 }
  total = 0

  constructor(most: number) {
    this.#most = most
  }

  get keys(): Iterable<string> {
    return this.#requests.keys()
  }

  get requests(): LaneRequest[] {
    return this.#most > 0 ? [...this.#requests.values()] : []
  }

  add({ key, lane, pace }: PlannedLane, count: number): void {
    const { merchantId, host, destinationId } = lane
    const request = this.#requests.get(key)
    if (request) request.most += count
    else this.#requests.set(key, { merchantId, host, destinationId, most: count })
    const ofHost = this.#hosts.get(host) ?? { fast: 0, unknown: 0, slow: 0 }
    ofHost[pace] += count
    this.#hosts.set(host, ofHost)
    this.#merchants.set(merchantId, this.ofMerchant(merchantId) + count)
    this.#paces[pace] += count
    this.total += count
  }

  ofLane(key: string): number {
    return this.#requests.get(key)?.most ?? 0
  }

  ofHost(host: string): number {
    const paces = this.#hosts.get(host)
    return paces ? sum(paces) : 0
  }

  ofMerchant(merchantId: string): number {
    return this.#merchants.get(merchantId) ?? 0
  }

  notBetter(pace: Pace): number {
    return sumNotBetter(this.#paces, pace)
  }

  notBetterAtHost(host: string, pace: Pace): number {
    const paces = this.#hosts.get(host)
    return paces ? sumNotBetter(paces, pace) : 0
  }
}

function sum({ fast, unknown, slow }: Record<Pace, number>): number {
  return fast + unknown + slow
}

/** Slots that this pace may use and that are taken by it or by slower paces. */
function sumNotBetter(counts: Record<Pace, number>, pace: Pace): number {
  if (pace === 'slow') return counts.slow
  return pace === 'unknown' ? counts.slow + counts.unknown : sum(counts)
}

/** Evicts the least recently used entry that may be forgotten. */
function forgetOne<Value>(loads: Map<string, Value>, mayForget: (load: Value) => boolean): Value | undefined {
  for (const [key, load] of loads) {
    if (!mayForget(load)) continue
    loads.delete(key)
    return load
  }
  return undefined
}

export function laneKey({ merchantId, host, destinationId }: Lane): string {
  return `${merchantId} ${destinationId} ${host}`
}
