// When a merchant is paid out: daily, weekly, monthly or by hand. Days are those of UTC, written 2026-11-16. A day that
// was missed is made up for once: the newest day that is due stands for all before it, for a payout pays what is there.
import { toDecimalText } from '@tillgate/protocol'

export const schedules = ['daily', 'weekly', 'monthly', 'hand'] as const
export type Schedule = (typeof schedules)[number]

export interface Timetable {
  readonly schedule: Schedule
  /** Of a weekly one 1 (Monday) to 7, of a monthly one 1 to 31; the last day of a month that is shorter. */
  readonly onDay: number | undefined
}

export interface PayoutPlan extends Timetable {
  readonly merchantId: string
  readonly currency: string
  /** The operator's account that pays. */
  readonly bankName: string
  /** Less is not worth a transfer: it stays for the next time. */
  readonly leastMinor: bigint
  readonly reserve: Reserve
  /** Not before this day; undefined: not by itself. */
  readonly nextDay: string | undefined
  /** The newest day that was dealt with, and what came of it. */
  readonly lastDay: string | undefined
  readonly lastOutcome: PlanOutcome | undefined
}

/** What stays with the merchant for refunds: both parts together. */
export interface Reserve {
  readonly fixedMinor: bigint
  /** Of the sales of the last days, in hundredths of a percent. */
  readonly shareBasisPoints: number
  readonly shareDays: number
}

export const planOutcomes = [
  'paid_out',
  'nothing_to_pay',
  'no_bank_account',
  'suspended',
  'bank_closed',
] as const
export type PlanOutcome = (typeof planOutcomes)[number]

export const dayMs = 86_400_000

export function dayOf(timeMs: number): string {
  return new Date(timeMs).toISOString().slice(0, 10)
}

export function addDays(day: string, days: number): string {
  return dayOf(Date.parse(day) + days * dayMs)
}

/** The day that is to be paid for now; undefined: none yet. */
export function dueDay(plan: Timetable & Pick<PayoutPlan, 'nextDay'>, today: string): string | undefined {
  if (plan.nextDay === undefined || plan.nextDay > today) return undefined
  for (let day = today; day > plan.nextDay; day = addDays(day, -1)) if (isPlanDay(plan, day)) return day
  return plan.nextDay
}

/** The first day after this one; undefined: only by hand. */
export function nextPlanDay(timetable: Timetable, after: string): string | undefined {
  if (timetable.schedule === 'hand') return undefined
  let day = addDays(after, 1)
  while (!isPlanDay(timetable, day)) day = addDays(day, 1)
  return day
}

function isPlanDay({ schedule, onDay = 1 }: Timetable, day: string): boolean {
  switch (schedule) {
    case 'daily':
      return true
    case 'weekly':
      return (new Date(day).getUTCDay() || 7) === onDay
    case 'monthly':
      return Number(day.slice(8)) === Math.min(onDay, lastOfMonth(day))
    case 'hand':
      return false
  }
}

function lastOfMonth(day: string): number {
  return new Date(Date.UTC(Number(day.slice(0, 4)), Number(day.slice(5, 7)), 0)).getUTCDate()
}

const weekdays = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday']

/** As people say it. */
export function describeTimetable({ schedule, onDay = 1 }: Timetable): string {
  switch (schedule) {
    case 'daily':
      return 'every day'
    case 'weekly':
      return `every ${weekdays[onDay - 1]}`
    case 'monthly':
      return `on day ${onDay} of every month`
    case 'hand':
      return 'by hand'
  }
}

export function describePlan(plan: Omit<PayoutPlan, 'nextDay' | 'lastDay' | 'lastOutcome'>): string {
  const { currency, bankName, leastMinor, reserve } = plan
  const { fixedMinor, shareBasisPoints, shareDays } = reserve
  return [
    `${currency} from ${bankName} ${describeTimetable(plan)}`,
    leastMinor > 0n && `at least ${toDecimalText(leastMinor, currency)}`,
    fixedMinor > 0n && `${toDecimalText(fixedMinor, currency)} stay`,
    shareBasisPoints > 0 && `${shareBasisPoints / 100} % of the sales of ${shareDays} days stay`,
  ]
    .filter((part) => part !== false)
    .join(', ')
}
