// Admission control on a clock of the test's own, and requests from whatever address.
import type { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import type { Admission } from '../../src/platform/http/admission/admission.ts'
import {
  AdmissionControl,
  type AdmissionOptions,
} from '../../src/platform/http/admission/admission-control.ts'
import { machineTime } from '../../src/platform/runtime/timer.ts'
import { TestClock } from './clock.ts'

export function makeControl(options: Partial<AdmissionOptions> = {}) {
  const clock = new TestClock()
  const admission = new AdmissionControl({
    requestsInFlightMax: 10,
    merchantRequestsPerSecond: 1,
    failedOpeningsPerMinute: 5,
    trustedProxies: [],
    clock,
    time: machineTime,
    ...options,
  })
  return { admission, clock }
}

export function admitFrom(admission: AdmissionControl, address: string): Admission {
  return admission.admit({ socket: socketFrom(address), headers: {} } as IncomingMessage)
}

/** Makes the address a known one. */
export async function openFrom(admission: AdmissionControl, address: string): Promise<void> {
  await admitFrom(admission, address).open(async () => 'opened')
}

/** A socket that is connected to nobody. */
function socketFrom(address: string): Socket {
  return Object.defineProperty(new Socket(), 'remoteAddress', { value: address })
}
