// The thread that makes the package: half a second of work that would hold up payments on the event loop.
import { parentPort } from 'node:worker_threads'
import { sdkPackageFiles } from './package-files.ts'
import { tarball } from './tarball.ts'

parentPort?.postMessage(tarball(sdkPackageFiles()))
