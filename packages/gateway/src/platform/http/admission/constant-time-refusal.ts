// Refusals in constant time, so that their time does not tell why: what was looked for and found takes longer to
// read than what is not there, 80 µs for a merchant's keys, and thousands of tries would show it.
import type { MachineTime } from '../../runtime/timer.ts'

/** Longer than the opening of an envelope takes on a machine that has time for it. */
export const refusalMs = 5
/** So much later than it should a timer may come. */
const timerLateMs = 0.5

/** Undefined, the refusal, comes only at a multiple of `refusalMs` after the beginning; all else comes at once. */
export async function refuseInConstantTime<Opened>(
  work: () => Promise<Opened | undefined>,
  /** The machine's own, because that is what is hidden. */
  time: MachineTime,
): Promise<Opened | undefined> {
  const beganMs = time.nowMs()
  const opened = await work()
  if (opened === undefined) await waitForMultiple(beganMs, time)
  return opened
}

/**
 * A timer runs out some whole milliseconds after the process fell asleep, which was when the work was over: it would tell
 * just what is to be hidden. So a timer takes the most of it, and the rest, one and a half milliseconds at
 * most, is waited for awake, in which everybody else is served. Who wakes too late leaves at the next whole millisecond.
 */
async function waitForMultiple(beganMs: number, { nowMs, startTimer, nextTurn }: MachineTime): Promise<void> {
  const tookMs = nowMs() - beganMs
  const dueMs = Math.ceil(tookMs / refusalMs) * refusalMs
  const asleepMs = Math.floor(dueMs - tookMs - timerLateMs)
  if (asleepMs > 0) await new Promise<void>((resolve) => startTimer(asleepMs, resolve))
  const leavesAtMs = beganMs + Math.max(dueMs, Math.ceil(nowMs() - beganMs))
  while (nowMs() < leavesAtMs) await new Promise<void>(nextTurn)
}
