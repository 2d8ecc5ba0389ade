// Reconciliation in the console: breaks as a work list, statements, days.
import type { ConsoleRoute } from '../../console.ts'
import { breaksArea } from './breaks.ts'
import { daysArea } from './days.ts'
import { importsArea } from './imports.ts'
import { selectedArea } from './selected.ts'

export const reconciliationArea: readonly ConsoleRoute[] = [
  ...breaksArea,
  ...selectedArea,
  ...importsArea,
  ...daysArea,
]
