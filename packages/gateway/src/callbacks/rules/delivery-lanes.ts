// Who may send next. A lane is what one merchant has waiting at one host; lanes take turns, and each of them, each
// host, each merchant and each kind of host has only so many slots, so that whoever is slow or dead holds up
// nobody but himself. It knows lanes, never callbacks: a million waiting ones take no memory here.
import assert from 'node:assert/strict'

export interface Lane {
  readonly merchantId: string
  readonly host: string
}

export interface LaneRequest extends Lane {
  /** How many callbacks may be claimed from it. */
  readonly most: number
}

export interface LaneLimits {
  readonly inFlight: number
  readonly inFlightPerHost: number
  readonly inFlightPerMerchant: number
}

/** What is known of a host that fails. */
export interface HostState {
  readonly failures: number
  readonly pausedUntilMs: number | undefined
}

/** A host whose last answer was good and quick; one that nobody knows yet; one that is slow or fails. */
type Pace = 'fast' | 'unknown' | 'slow'

interface ReadyLane extends Lane {
  /** Something came into it since it was last planned: a claim that is under way may not have seen it. */
  hasNews: boolean
}

interface HostLoad {
  inFlight: number
  pace: Pace
  failures: number
  pausedUntilMs: number | undefined
}

/** Above this an answer is slow: a host with 64 of them under way takes a minute's work of a healthy one. */
export const fastWithinMs = 1_000
/** Of all slots: the rest is kept free for hosts that are fast, and some of it for those nobody knows yet. */
const shares: Record<Pace, number> = { fast: 1, unknown: 3 / 4, slow: 1 / 4 }
const perHost: Record<Pace, number> = { fast: Number.POSITIVE_INFINITY, unknown: 8, slow: 4 }
/** Of each claim: fast lanes come first, and never take all of it. */
const fastShare = 3 / 4
/** So many at a time: lanes that share a host or a merchant share its slots evenly. */
const turn = 8
const maxLanes = 20_000
const maxHosts = 20_000

export class DeliveryLanes {
  readonly #limits: LaneLimits
  /** In the order of their turns. */
  readonly #ready = new Map<string, ReadyLane>()
  readonly #hosts = new Map<string, HostLoad>()
  readonly #merchants = new Map<string, number>()
  readonly #inFlight: Record<Pace, number> = { fast: 0, unknown: 0, slow: 0 }

  constructor(limits: LaneLimits) {
    this.#limits = limits
  }

  /** The lane has something due, or may have. Past the bound it is left to be found again. */
  makeReady({ merchantId, host }: Lane): void {
    const key = keyOf({ merchantId, host })
    const known = this.#ready.get(key)
    if (known) known.hasNews = true
    else if (this.#ready.size < maxLanes || this.#dropPaused()) {
      this.#ready.set(key, { merchantId, host, hasNews: false })
    }
  }

  /** Lanes of paused hosts are not planned, and must not take up all the places that there are for lanes. */
  #dropPaused(): boolean {
    for (const [key, { host }] of this.#ready) {
      if (this.#hosts.get(host)?.pausedUntilMs !== undefined) return this.#ready.delete(key)
    }
    return false
  }

  get readyLanes(): number {
    return this.#ready.size
  }

  get inFlight(): number {
    return this.#inFlight.fast + this.#inFlight.unknown + this.#inFlight.slow
  }

  noteHost(host: string, { failures, pausedUntilMs }: HostState): void {
    const load = this.#host(host)
    load.failures = failures
    load.pausedUntilMs = pausedUntilMs
    if (failures > 0) this.#setPace(load, 'slow')
  }

  /** The lanes to claim from now, and how much from each; `most` in all. */
  plan({ most, nowMs }: { most: number; nowMs: number }): LaneRequest[] {
    const lanes = [...this.#ready.values()]
    const planned = new Plan(most)
    const fast = lanes.filter(({ host }) => this.#paceOf(host) === 'fast')
    const others = lanes.filter(({ host }) => this.#paceOf(host) !== 'fast')
    const forFast = others.length === 0 ? most : Math.ceil(most * fastShare)
    this.#share(fast, { planned, upTo: forFast, nowMs })
    this.#share(others, { planned, upTo: most, nowMs })
    this.#share(fast, { planned, upTo: most, nowMs })
    for (const request of planned.requests) this.#see(request)
    return planned.requests
  }

  #see(lane: Lane): void {
    const ready = this.#ready.get(keyOf(lane))
    if (ready) ready.hasNews = false
  }

  /** Round by round, so that what few lanes leave over goes to the rest. */
  #share(lanes: readonly Lane[], { planned, upTo, nowMs }: { planned: Plan; upTo: number; nowMs: number }) {
    let open = lanes
    while (open.length > 0 && planned.total < upTo) {
      const quantum = Math.min(turn, Math.max(1, Math.floor((upTo - planned.total) / open.length)))
      const still: Lane[] = []
      for (const lane of open) {
        if (planned.total >= upTo) return
        const count = Math.min(quantum, this.#slotsFor(lane, planned, nowMs), upTo - planned.total)
        if (count <= 0) continue
        planned.add(lane, count, this.#paceOf(lane.host))
        still.push(lane)
      }
      open = still
    }
  }

  #slotsFor({ merchantId, host }: Lane, planned: Plan, nowMs: number): number {
    const { inFlight, inFlightPerHost, inFlightPerMerchant } = this.#limits
    const load = this.#hosts.get(host)
    const pace = load?.pace ?? 'unknown'
    if (load?.pausedUntilMs !== undefined) {
      if (load.pausedUntilMs > nowMs) return 0
      // The pause is over: one goes ahead to see.
      if (load.inFlight + planned.ofHost(host) > 0) return 0
    }
    const hostSlots = Math.min(inFlightPerHost, perHost[pace]) - (load?.inFlight ?? 0) - planned.ofHost(host)
    const merchantSlots =
      inFlightPerMerchant - (this.#merchants.get(merchantId) ?? 0) - planned.ofMerchant(merchantId)
    const paceSlots = inFlight * shares[pace] - this.#notBetterThan(pace) - planned.notBetterThan(pace)
    const allSlots = inFlight - this.inFlight - planned.total
    const isProbe = load?.pausedUntilMs !== undefined
    return Math.min(
      isProbe ? 1 : Number.POSITIVE_INFINITY,
      hostSlots,
      merchantSlots,
      Math.floor(paceSlots),
      allSlots,
    )
  }

  /** How many of the slots that this pace may use are taken: its own, and that of slower paces. */
  #notBetterThan(pace: Pace): number {
    return sumNotBetter(this.#inFlight, pace)
  }

  /** So many of a request were claimed. A lane that gave fewer than it was asked for has nothing more for now. */
  claimed({ merchantId, host, most }: LaneRequest, count: number): void {
    const key = keyOf({ merchantId, host })
    const lane = this.#ready.get(key)
    this.#ready.delete(key)
    // To the end: the others have their turn first.
    if (lane !== undefined && (count >= most || lane.hasNews)) this.#ready.set(key, lane)
    if (count === 0) return
    const load = this.#host(host)
    load.inFlight += count
    this.#inFlight[load.pace] += count
    this.#merchants.set(merchantId, (this.#merchants.get(merchantId) ?? 0) + count)
  }

  /** One of them is done with; `durationMs` where it was answered well. */
  ended({ merchantId, host }: Lane, result: { readonly isGood: boolean; readonly durationMs: number }): void {
    const load = this.#leave({ merchantId, host })
    if (result.isGood) {
      load.failures = 0
      load.pausedUntilMs = undefined
    }
    this.#setPace(load, result.isGood && result.durationMs <= fastWithinMs ? 'fast' : 'slow')
  }

  /** One of them was not sent at all, which says nothing of its host. */
  returned({ merchantId, host }: Lane): void {
    this.#leave({ merchantId, host })
  }

  /** The end of the first pause among the lanes that could go then. */
  nextPauseEndMs(nowMs: number): number {
    let next = Number.POSITIVE_INFINITY
    for (const { host } of this.#ready.values()) {
      const until = this.#hosts.get(host)?.pausedUntilMs
      if (until !== undefined && until > nowMs && until < next) next = until
    }
    return next
  }

  #leave({ merchantId, host }: Lane): HostLoad {
    const load = this.#hosts.get(host)
    assert(load, 'a host is not forgotten while something is on its way to it')
    load.inFlight--
    this.#inFlight[load.pace]--
    const left = (this.#merchants.get(merchantId) ?? 1) - 1
    if (left > 0) this.#merchants.set(merchantId, left)
    else this.#merchants.delete(merchantId)
    return load
  }

  #setPace(load: HostLoad, pace: Pace): void {
    this.#inFlight[load.pace] -= load.inFlight
    load.pace = pace
    this.#inFlight[pace] += load.inFlight
  }

  #paceOf(host: string): Pace {
    return this.#hosts.get(host)?.pace ?? 'unknown'
  }

  #host(host: string): HostLoad {
    const known = this.#hosts.get(host)
    // Taken out and put back: the map's own order is from the longest unused to the last used.
    this.#hosts.delete(host)
    const load = known ?? { inFlight: 0, pace: 'unknown', failures: 0, pausedUntilMs: undefined }
    this.#hosts.set(host, load)
    if (this.#hosts.size > maxHosts) this.#forgetOne()
    return load
  }

  #forgetOne(): void {
    for (const [host, { inFlight }] of this.#hosts) {
      if (inFlight > 0) continue
      this.#hosts.delete(host)
      return
    }
  }
}

/** What a plan has given out so far. */
class Plan {
  readonly #most: number
  readonly #requests = new Map<string, Lane & { most: number }>()
  readonly #hosts = new Map<string, number>()
  readonly #merchants = new Map<string, number>()
  readonly #paces: Record<Pace, number> = { fast: 0, unknown: 0, slow: 0 }
  total = 0

  constructor(most: number) {
    this.#most = most
  }

  get requests(): LaneRequest[] {
    return this.#most > 0 ? [...this.#requests.values()] : []
  }

  add(lane: Lane, count: number, pace: Pace): void {
    const key = keyOf(lane)
    const request = this.#requests.get(key)
    if (request) request.most += count
    else this.#requests.set(key, { merchantId: lane.merchantId, host: lane.host, most: count })
    this.#hosts.set(lane.host, this.ofHost(lane.host) + count)
    this.#merchants.set(lane.merchantId, this.ofMerchant(lane.merchantId) + count)
    this.#paces[pace] += count
    this.total += count
  }

  ofHost(host: string): number {
    return this.#hosts.get(host) ?? 0
  }

  ofMerchant(merchantId: string): number {
    return this.#merchants.get(merchantId) ?? 0
  }

  notBetterThan(pace: Pace): number {
    return sumNotBetter(this.#paces, pace)
  }
}

function sumNotBetter(counts: Record<Pace, number>, pace: Pace): number {
  if (pace === 'slow') return counts.slow
  if (pace === 'unknown') return counts.slow + counts.unknown
  return counts.slow + counts.unknown + counts.fast
}

function keyOf({ merchantId, host }: Lane): string {
  return `${merchantId} ${host}`
}
