// The thread that builds the package, because half a second of work would block payments on the event loop.
import { parentPort } from 'node:worker_threads'
import { sdkPackageFiles } from './package-files.ts'
import { tarball } from './tarball.ts'

parentPort?.postMessage(tarball(sdkPackageFiles()))
