import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { dayAfter, utcDay } from '../../../platform/runtime/utc.ts'
import { describePlan, describeTimetable, dueDay, nextPlanDay, type Timetable } from './payout-plan.ts'

const daily: Timetable = { schedule: 'daily', onDay: undefined }
const weekly = (onDay: number): Timetable => ({ schedule: 'weekly', onDay })
const monthly = (onDay: number): Timetable => ({ schedule: 'monthly', onDay })
const byHand: Timetable = { schedule: 'hand', onDay: undefined }

test('days are in UTC', () => {
  assert.equal(utcDay(Date.parse('2026-11-16T00:00:00Z')), '2026-11-16')
  assert.equal(utcDay(Date.parse('2026-11-16T00:00:00Z') - 1), '2026-11-15')
  assert.equal(dayAfter('2024-02-28', 1), '2024-02-29')
  assert.equal(dayAfter('2026-01-01', -1), '2025-12-31')
})

test('a daily schedule is due every day, a weekly one on its weekday, a manual one never automatically', () => {
  assert.equal(nextPlanDay(daily, '2026-12-31'), '2027-01-01')
  // 2026-11-16 is a Monday.
  assert.equal(nextPlanDay(weekly(1), '2026-11-15'), '2026-11-16')
  assert.equal(nextPlanDay(weekly(1), '2026-11-16'), '2026-11-23')
  assert.equal(nextPlanDay(weekly(7), '2026-11-16'), '2026-11-22')
  assert.equal(nextPlanDay(byHand, '2026-11-16'), undefined)
})

test('a monthly schedule is due on its day, or on the last day of a shorter month', () => {
  assert.equal(nextPlanDay(monthly(1), '2026-11-16'), '2026-12-01')
  assert.equal(nextPlanDay(monthly(31), '2026-11-16'), '2026-11-30')
  assert.equal(nextPlanDay(monthly(31), '2026-11-30'), '2026-12-31')
  assert.equal(nextPlanDay(monthly(31), '2027-01-31'), '2027-02-28')
  assert.equal(nextPlanDay(monthly(30), '2024-02-01'), '2024-02-29')
  assert.equal(nextPlanDay(monthly(28), '2027-02-27'), '2027-02-28')
})

test('nothing is due before its day, and missed days are made up once, for the latest day', () => {
  assert.equal(dueDay({ ...daily, nextDay: '2026-11-17' }, '2026-11-16'), undefined)
  assert.equal(dueDay({ ...daily, nextDay: '2026-11-16' }, '2026-11-16'), '2026-11-16')
  assert.equal(dueDay({ ...daily, nextDay: '2026-11-10' }, '2026-11-16'), '2026-11-16')
  assert.equal(dueDay({ ...weekly(3), nextDay: '2026-11-04' }, '2026-11-16'), '2026-11-11')
  assert.equal(dueDay({ ...monthly(31), nextDay: '2026-09-30' }, '2026-11-16'), '2026-10-31')
  assert.equal(dueDay({ ...byHand, nextDay: '2026-11-14' }, '2026-11-16'), '2026-11-14')
  assert.equal(dueDay({ ...byHand, nextDay: undefined }, '2026-11-16'), undefined)
})

test('no day is processed twice and days never go back, even if the clock jumps', () => {
  const timetable = fc.oneof(
    fc.constant(daily),
    fc.integer({ min: 1, max: 7 }).map(weekly),
    fc.integer({ min: 1, max: 31 }).map(monthly),
  )
  const today = fc.integer({ min: 20_000, max: 22_000 }).map((days) => utcDay(days * 86_400_000))
  fc.assert(
    fc.property(timetable, fc.array(today, { minLength: 1, maxLength: 40 }), (plan, todays) => {
      let nextDay = nextPlanDay(plan, todays[0] ?? '')
      let lastDay = ''
      for (const now of todays) {
        const day = dueDay({ ...plan, nextDay }, now)
        if (day === undefined) continue
        assert.ok(day > lastDay && day <= now && day >= (nextDay ?? ''))
        lastDay = day
        nextDay = nextPlanDay(plan, now)
        assert.ok(nextDay !== undefined && nextDay > now)
      }
    }),
  )
})

test('a schedule is described in plain words', () => {
  assert.equal(describeTimetable(daily), 'every day')
  const days = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday']
  for (const [index, day] of days.entries())
    assert.equal(describeTimetable(weekly(index + 1)), `every ${day}`)
  assert.equal(describeTimetable(monthly(31)), 'on day 31 of every month')
  assert.equal(describeTimetable(byHand), 'by hand')
  const plan = { ...weekly(1), merchantId: '1', currency: 'EUR', bankName: 'main' }
  const none = { fixedMinor: 0n, shareBasisPoints: 0, shareDays: 0 }
  assert.equal(describePlan({ ...plan, leastMinor: 0n, reserve: none }), 'EUR from main every Monday')
  assert.equal(
    describePlan({
      ...plan,
      leastMinor: 1n,
      reserve: { fixedMinor: 250n, shareBasisPoints: 550, shareDays: 30 },
    }),
    'EUR from main every Monday, at least 0.01, 2.50 stay, 5.5 % of the sales of 30 days stay',
  )
})
