// What every fault has in common: it comes over a gateway under load, goes again, and leaves nothing behind. Nobody
// lends a hand; the shoppers' stories must come to their end, and all that was told must be so.
import { setTimeout as pause } from 'node:timers/promises'
import type { Tool } from '../support/debian-tools.ts'
import type { GatewayChild } from '../support/gateway-child.ts'
import { Site, type SiteOptions } from '../support/site.ts'

export interface Fault {
  readonly name: string
  /** Left out where one of them is missing. */
  readonly tools: readonly Tool[]
  /** Why it cannot be made on this machine, where something else than a tool is missing. */
  readonly whyNot?: () => string | undefined
  /** Comes back with what is wrong. */
  readonly run: (parts: FaultParts) => Promise<readonly string[]>
}

export interface FaultParts {
  /** An empty folder of its own. */
  readonly home: string
  readonly tell: (line: string) => void
}

export interface UnderLoad extends SiteOptions {
  /** Ready. It is stopped in the end. */
  readonly gateway: GatewayChild
  readonly shoppers?: number
  readonly tell: (line: string) => void
}

/** A few orders before the fault, and a few after it. */
const ordersAround = 6
const lookEveryMs = 100

export async function underLoad(
  options: UnderLoad,
  fault: (site: Site) => Promise<readonly string[]>,
): Promise<readonly string[]> {
  const { gateway, name, tell } = options
  const site = await Site.open(options)
  try {
    const trouble = site.startLoad(options.shoppers ?? 4)
    const wrong = await Promise.race([faultBetweenOrders(), trouble])
    site.endLoad()
    const violations = [...wrong, ...(await site.check())]
    tell(`${name}: ${JSON.stringify(site.figures())}`)
    return violations
  } finally {
    site.close()
    await gateway.stop()
  }

  async function faultBetweenOrders(): Promise<readonly string[]> {
    await site.moreOrders(ordersAround)
    const wrong = await fault(site)
    const tookMs = await gateway.ready()
    await site.moreOrders(ordersAround)
    tell(`${name}: ready ${Math.round(tookMs)} ms after the fault was over`)
    return wrong
  }
}

/** What /readyz says within that time; as a sentence where it is not so. */
export async function readyzSays(
  gateway: GatewayChild,
  wanted: { readonly isReady: boolean; readonly withinMs: number; readonly while: string },
): Promise<string[]> {
  const deadline = performance.now() + wanted.withinMs
  while ((await gateway.isReady()) !== wanted.isReady) {
    if (performance.now() > deadline)
      return [`/readyz does not say "${wanted.isReady ? 'ready' : 'not ready'}" while ${wanted.while}`]
    await pause(lookEveryMs)
  }
  return []
}

/** That it says so all the time, and does not change its mind. */
export async function readyzKeepsSaying(
  gateway: GatewayChild,
  wanted: { readonly isReady: boolean; readonly forMs: number; readonly while: string },
): Promise<string[]> {
  const end = performance.now() + wanted.forMs
  while (performance.now() < end) {
    if ((await gateway.isReady()) !== wanted.isReady)
      return [`/readyz said "${wanted.isReady ? 'not ready' : 'ready'}" while ${wanted.while}`]
    await pause(lookEveryMs)
  }
  return []
}
