// Whether something grows: a straight line through values taken at even distances, with the 95 % interval of its slope.

export interface Trend {
  /** For each step between two values. */
  readonly slope: number
  readonly least: number
  readonly most: number
}

/** Of Student's t, two-sided, 95 %: by degrees of freedom, then for more of them. */
const criticalValues = [
  12.71, 4.3, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23, 2.2, 2.18, 2.16, 2.14, 2.13, 2.12, 2.11, 2.1,
  2.09, 2.09,
]
const criticalBeyond = 2.05

export function trendOf(values: readonly number[]): Trend {
  const count = values.length
  if (count < 3) throw new Error(`a trend needs three values, not ${count}`)
  const middle = (count - 1) / 2
  const mean = values.reduce((sum, value) => sum + value, 0) / count
  const spread = values.reduce((sum, _, step) => sum + (step - middle) ** 2, 0)
  const slope = values.reduce((sum, value, step) => sum + (step - middle) * (value - mean), 0) / spread
  const squares = values.reduce((sum, value, step) => sum + (value - mean - slope * (step - middle)) ** 2, 0)
  const error = Math.sqrt(squares / (count - 2) / spread)
  const within = error * (criticalValues[count - 3] ?? criticalBeyond)
  return { slope, least: slope - within, most: slope + within }
}
