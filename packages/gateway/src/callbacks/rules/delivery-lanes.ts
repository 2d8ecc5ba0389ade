// Who may send next. A line is what one merchant has waiting at one host; lines take turns, and each of them, each
// host, each merchant and each kind of host has only so much room, so that whoever is slow or dead holds up
// nobody but himself. It knows lines, never callbacks: a million waiting ones take no memory here.
import assert from 'node:assert/strict'

export interface Line {
  readonly merchantId: string
  readonly host: string
}

export interface LineRequest extends Line {
  /** How many callbacks may be claimed from it. */
  readonly most: number
}

export interface RoomLimits {
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
type Pace = 'brisk' | 'unknown' | 'sluggish'

interface ReadyLine extends Line {
  /** Something came into it since it was last planned: a claim that is under way may not have seen it. */
  hasNews: boolean
}

interface HostRoom {
  inFlight: number
  pace: Pace
  failures: number
  pausedUntilMs: number | undefined
}

/** Above this an answer is slow: a host with 64 of them under way takes a minute's work of a healthy one. */
export const briskWithinMs = 1_000
/** Of all room: the rest is kept free for hosts that are brisk, and some of it for those nobody knows yet. */
const shares: Record<Pace, number> = { brisk: 1, unknown: 3 / 4, sluggish: 1 / 4 }
const perHost: Record<Pace, number> = { brisk: Number.POSITIVE_INFINITY, unknown: 8, sluggish: 4 }
/** Of each claim: brisk lines come first, and never take all of it. */
const briskShare = 3 / 4
/** So many at a time: lines that share a host or a merchant share its room evenly. */
const turn = 8
const maxLines = 20_000
const maxHosts = 20_000

export class DeliveryRooms {
  readonly #limits: RoomLimits
  /** In the order of their turns. */
  readonly #ready = new Map<string, ReadyLine>()
  readonly #hosts = new Map<string, HostRoom>()
  readonly #merchants = new Map<string, number>()
  readonly #inFlight: Record<Pace, number> = { brisk: 0, unknown: 0, sluggish: 0 }

  constructor(limits: RoomLimits) {
    this.#limits = limits
  }

  /** The line has something due, or may have. Past the bound it is left to be found again. */
  makeReady({ merchantId, host }: Line): void {
    const key = keyOf({ merchantId, host })
    const known = this.#ready.get(key)
    if (known) known.hasNews = true
    else if (this.#ready.size < maxLines || this.#dropPaused()) {
      this.#ready.set(key, { merchantId, host, hasNews: false })
    }
  }

  /** Lines of paused hosts are not planned, and must not take up all the room that there is for lines. */
  #dropPaused(): boolean {
    for (const [key, { host }] of this.#ready) {
      if (this.#hosts.get(host)?.pausedUntilMs !== undefined) return this.#ready.delete(key)
    }
    return false
  }

  get readyLines(): number {
    return this.#ready.size
  }

  get inFlight(): number {
    return this.#inFlight.brisk + this.#inFlight.unknown + this.#inFlight.sluggish
  }

  noteHost(host: string, { failures, pausedUntilMs }: HostState): void {
    const room = this.#host(host)
    room.failures = failures
    room.pausedUntilMs = pausedUntilMs
    if (failures > 0) this.#setPace(room, 'sluggish')
  }

  /** The lines to claim from now, and how much from each; `most` in all. */
  plan({ most, nowMs }: { most: number; nowMs: number }): LineRequest[] {
    const lines = [...this.#ready.values()]
    const planned = new Plan(most)
    const brisk = lines.filter(({ host }) => this.#paceOf(host) === 'brisk')
    const others = lines.filter(({ host }) => this.#paceOf(host) !== 'brisk')
    const forBrisk = others.length === 0 ? most : Math.ceil(most * briskShare)
    this.#share(brisk, { planned, upTo: forBrisk, nowMs })
    this.#share(others, { planned, upTo: most, nowMs })
    this.#share(brisk, { planned, upTo: most, nowMs })
    for (const request of planned.requests) this.#see(request)
    return planned.requests
  }

  #see(line: Line): void {
    const ready = this.#ready.get(keyOf(line))
    if (ready) ready.hasNews = false
  }

  /** Round by round, so that what few lines leave over goes to the rest. */
  #share(lines: readonly Line[], { planned, upTo, nowMs }: { planned: Plan; upTo: number; nowMs: number }) {
    let open = lines
    while (open.length > 0 && planned.total < upTo) {
      const quantum = Math.min(turn, Math.max(1, Math.floor((upTo - planned.total) / open.length)))
      const still: Line[] = []
      for (const line of open) {
        if (planned.total >= upTo) return
        const room = Math.min(quantum, this.#roomFor(line, planned, nowMs), upTo - planned.total)
        if (room <= 0) continue
        planned.add(line, room, this.#paceOf(line.host))
        still.push(line)
      }
      open = still
    }
  }

  #roomFor({ merchantId, host }: Line, planned: Plan, nowMs: number): number {
    const { inFlight, inFlightPerHost, inFlightPerMerchant } = this.#limits
    const room = this.#hosts.get(host)
    const pace = room?.pace ?? 'unknown'
    if (room?.pausedUntilMs !== undefined) {
      if (room.pausedUntilMs > nowMs) return 0
      // The pause is over: one goes ahead to see.
      if (room.inFlight + planned.ofHost(host) > 0) return 0
    }
    const hostRoom = Math.min(inFlightPerHost, perHost[pace]) - (room?.inFlight ?? 0) - planned.ofHost(host)
    const merchantRoom =
      inFlightPerMerchant - (this.#merchants.get(merchantId) ?? 0) - planned.ofMerchant(merchantId)
    const paceRoom = inFlight * shares[pace] - this.#notBetterThan(pace) - planned.notBetterThan(pace)
    const allRoom = inFlight - this.inFlight - planned.total
    const isProbe = room?.pausedUntilMs !== undefined
    return Math.min(
      isProbe ? 1 : Number.POSITIVE_INFINITY,
      hostRoom,
      merchantRoom,
      Math.floor(paceRoom),
      allRoom,
    )
  }

  /** How much of the room that this pace may use is taken: its own, and that of slower paces. */
  #notBetterThan(pace: Pace): number {
    return sumNotBetter(this.#inFlight, pace)
  }

  /** So many of a request were claimed. A line that gave fewer than it was asked for has nothing more for now. */
  claimed({ merchantId, host, most }: LineRequest, count: number): void {
    const key = keyOf({ merchantId, host })
    const line = this.#ready.get(key)
    this.#ready.delete(key)
    // To the end: the others have their turn first.
    if (line !== undefined && (count >= most || line.hasNews)) this.#ready.set(key, line)
    if (count === 0) return
    const room = this.#host(host)
    room.inFlight += count
    this.#inFlight[room.pace] += count
    this.#merchants.set(merchantId, (this.#merchants.get(merchantId) ?? 0) + count)
  }

  /** One of them is done with; `durationMs` where it was answered well. */
  ended({ merchantId, host }: Line, result: { readonly isGood: boolean; readonly durationMs: number }): void {
    const room = this.#leave({ merchantId, host })
    if (result.isGood) {
      room.failures = 0
      room.pausedUntilMs = undefined
    }
    this.#setPace(room, result.isGood && result.durationMs <= briskWithinMs ? 'brisk' : 'sluggish')
  }

  /** One of them was not sent at all, which says nothing of its host. */
  returned({ merchantId, host }: Line): void {
    this.#leave({ merchantId, host })
  }

  /** The end of the first pause among the lines that could go then. */
  nextPauseEndMs(nowMs: number): number {
    let next = Number.POSITIVE_INFINITY
    for (const { host } of this.#ready.values()) {
      const until = this.#hosts.get(host)?.pausedUntilMs
      if (until !== undefined && until > nowMs && until < next) next = until
    }
    return next
  }

  #leave({ merchantId, host }: Line): HostRoom {
    const room = this.#hosts.get(host)
    assert(room, 'a host is not forgotten while something is on its way to it')
    room.inFlight--
    this.#inFlight[room.pace]--
    const left = (this.#merchants.get(merchantId) ?? 1) - 1
    if (left > 0) this.#merchants.set(merchantId, left)
    else this.#merchants.delete(merchantId)
    return room
  }

  #setPace(room: HostRoom, pace: Pace): void {
    this.#inFlight[room.pace] -= room.inFlight
    room.pace = pace
    this.#inFlight[pace] += room.inFlight
  }

  #paceOf(host: string): Pace {
    return this.#hosts.get(host)?.pace ?? 'unknown'
  }

  #host(host: string): HostRoom {
    const known = this.#hosts.get(host)
    // Taken out and put back: the map's own order is from the longest unused to the last used.
    this.#hosts.delete(host)
    const room = known ?? { inFlight: 0, pace: 'unknown', failures: 0, pausedUntilMs: undefined }
    this.#hosts.set(host, room)
    if (this.#hosts.size > maxHosts) this.#forgetOne()
    return room
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
  readonly #requests = new Map<string, Line & { most: number }>()
  readonly #hosts = new Map<string, number>()
  readonly #merchants = new Map<string, number>()
  readonly #paces: Record<Pace, number> = { brisk: 0, unknown: 0, sluggish: 0 }
  total = 0

  constructor(most: number) {
    this.#most = most
  }

  get requests(): LineRequest[] {
    return this.#most > 0 ? [...this.#requests.values()] : []
  }

  add(line: Line, count: number, pace: Pace): void {
    const key = keyOf(line)
    const request = this.#requests.get(key)
    if (request) request.most += count
    else this.#requests.set(key, { merchantId: line.merchantId, host: line.host, most: count })
    this.#hosts.set(line.host, this.ofHost(line.host) + count)
    this.#merchants.set(line.merchantId, this.ofMerchant(line.merchantId) + count)
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
  if (pace === 'sluggish') return counts.sluggish
  if (pace === 'unknown') return counts.sluggish + counts.unknown
  return counts.sluggish + counts.unknown + counts.brisk
}

function keyOf({ merchantId, host }: Line): string {
  return `${merchantId} ${host}`
}
