// A look at the Node that runs this: plain JavaScript, so that an old one can read it too.
const neededMajor = 24
if (Number(process.versions.node.split('.')[0]) < neededMajor) {
  process.stderr.write(
    `Tillgate needs Node ${neededMajor} or newer, and this is ${process.version}.\n` +
      'On Linux "npm ci" brings the right one, and "npm start" uses it; elsewhere install it from nodejs.org.\n',
  )
  process.exit(78)
}
