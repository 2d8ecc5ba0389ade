// Attackers share the processor with the gateway here, and a real one brings its own. So they have only the time that
// nobody else wants: Linux's idle class, which is set aside the moment that anybody wakes; the lowest niceness still
// takes its share.
import { existsSync } from 'node:fs'

const chrt = '/usr/bin/chrt'

/** What such a program is run by. */
export const onlyIdleTime: readonly string[] = existsSync(chrt) ? [chrt, '--idle', '0'] : ['nice', '-n', '19']
