// What a scenario is: something of ours beside a yardstick, measured in the same run, with a goal for the ratio.
import type { World } from './world.ts'

export interface Scenario {
  readonly name: string
  readonly yardstick: string
  readonly goal?: Goal
  run(world: World, size: Size): Promise<readonly Measured[]>
}

export interface Goal {
  readonly bound: 'at least' | 'at most'
  readonly ratio: number
}

export interface Size {
  readonly isQuick: boolean
  /** How long a scenario that takes minutes runs, where that was given. */
  readonly minutes: number | undefined
  /** A full figure and a quick one. */
  of(full: number, quick: number): number
}

export interface Measured {
  /** After the scenario's name, where it has several results. */
  readonly part?: string
  readonly goal?: Goal
  /** Undefined: a figure to know, beside nothing. */
  readonly ratio: number | undefined
  readonly ours: string
  readonly yardstick: string
  readonly note?: string
}

/** A line of the table. */
export interface Row extends Measured {
  readonly name: string
  readonly against: string
  readonly isGoalMet: boolean | undefined
  /** The ratios of all runs, or the figures where there are none. */
  readonly ofRuns?: readonly string[]
}

/** To know, beside nothing. */
export function figure(part: string, ours: string): Measured {
  return { part, ratio: undefined, ours, yardstick: '' }
}

export function atLeast(ratio: number): Goal {
  return { bound: 'at least', ratio }
}

export function atMost(ratio: number): Goal {
  return { bound: 'at most', ratio }
}

export function isMet({ bound, ratio: goal }: Goal, ratio: number): boolean {
  return bound === 'at least' ? ratio >= goal : ratio <= goal
}
