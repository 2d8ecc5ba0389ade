// When a merchant is paid out: daily, weekly, monthly or manually, in UTC days. Missed days are made up once, because
// a payout pays the whole balance.
import { toDecimalText } from '@tillgate/protocol'
import { dayAfter } from '../../../platform/runtime/utc.ts'

export const schedules = ['daily', 'weekly', 'monthly', 'hand'] as const
export type Schedule = (typeof schedules)[number]

export interface Timetable {
  readonly schedule: Schedule
  /** Weekly: 1 (Monday) to 7. Monthly: 1 to 31, or the last day of a shorter month. */
  readonly onDay: number | undefined
}

export interface PayoutPlan extends Timetable {
  readonly merchantId: string
  readonly currency: string
  /** The operator's account that pays. */
  readonly bankName: string
  /** A smaller balance waits for the next payout. */
  readonly leastMinor: bigint
  readonly reserve: Reserve
  /** Undefined: only manual. */
  readonly nextDay: string | undefined
  readonly lastDay: string | undefined
  readonly lastOutcome: PlanOutcome | undefined
}

/** The sum of both parts stays with the merchant for refunds. */
export interface Reserve {
  readonly fixedMinor: bigint
  /** A share of the sales of the last `shareDays` days. */
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

/** The day to pay out for now; undefined if none is due. */
export function dueDay(plan: Timetable & Pick<PayoutPlan, 'nextDay'>, today: string): string | undefined {
  if (plan.nextDay === undefined || plan.nextDay > today) return undefined
  for (let day = today; day > plan.nextDay; day = dayAfter(day, -1)) if (isPlanDay(plan, day)) return day
  return plan.nextDay
}

/** The first day after this one; undefined if only manual. */
export function nextPlanDay(timetable: Timetable, after: string): string | undefined {
  if (timetable.schedule === 'hand') return undefined
  let day = dayAfter(after, 1)
  while (!isPlanDay(timetable, day)) day = dayAfter(day, 1)
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
