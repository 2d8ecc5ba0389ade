// Imported by a server that is measured: it samples its event loop from "profile" to "profiled", and answers with both.
import { Session } from 'node:inspector/promises'

const session = new Session()
session.connect()
process.on('message', async (message) => {
  if (message === 'profile') {
    await session.post('Profiler.enable')
    await session.post('Profiler.setSamplingInterval', { interval: 250 })
    await session.post('Profiler.start')
    process.send?.('profiling')
  } else if (message === 'profiled') {
    process.send?.((await session.post('Profiler.stop')).profile)
  }
})
