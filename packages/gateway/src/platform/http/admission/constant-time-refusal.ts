// Refuses in constant time, so that timing does not reveal the reason: reading an existing merchant's keys takes 80
// µs longer, which thousands of tries would show.
import type { MachineTime } from '../../runtime/timer.ts'

/** Longer than opening an envelope takes on an idle machine. */
export const refusalMs = 5
const timerLateMs = 0.5

/** A refusal (undefined) returns at a multiple of `refusalMs`; other results return at once. */
export async function refuseInConstantTime<Opened>(
  work: () => Promise<Opened | undefined>,
  time: MachineTime,
): Promise<Opened | undefined> {
  const beganMs = time.nowMs()
  const opened = await work()
  if (opened === undefined) await waitForMultiple(beganMs, time)
  return opened
}

/**
 * A timer fires whole milliseconds after the process slept, which would reveal when the work ended. So a timer covers
 * most of the wait, and the last 1.5 ms at most are spent yielding to other work. A late wake-up returns at the next
 * whole millisecond.
 */
async function waitForMultiple(beganMs: number, { nowMs, startTimer, nextTurn }: MachineTime): Promise<void> {
  const tookMs = nowMs() - beganMs
  const dueMs = Math.ceil(tookMs / refusalMs) * refusalMs
  const asleepMs = Math.floor(dueMs - tookMs - timerLateMs)
  if (asleepMs > 0) await new Promise<void>((resolve) => startTimer(asleepMs, resolve))
  const leavesAtMs = beganMs + Math.max(dueMs, Math.ceil(nowMs() - beganMs))
  while (nowMs() < leavesAtMs) await new Promise<void>(nextTurn)
}
