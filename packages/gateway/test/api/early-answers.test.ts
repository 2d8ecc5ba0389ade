// Bodies that are too large, from clients that send all of it before they look for an answer, and from those that look
// while they send: each must have read 41300. Where a language is not on this machine the test says so.
import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { startTestGateway } from '../support/gateway.ts'
import { temporaryFolder } from '../support/process.ts'

// All as from one proxy: of another address a fast machine would have more connections refused than bodies.
const gateway = await startTestGateway({
  environment: { FAILED_OPENINGS_PER_MINUTE: '1000000', TRUSTED_PROXIES: '127.0.0.1' },
})
const url = `${gateway.url}/api/v1/gateway`
const folder = temporaryFolder()
const sizes = [400_000, 3_000_000]
const times = 100

interface Client {
  readonly name: string
  readonly command: string
  /** Succeeds where the language is on this machine. */
  readonly probe: readonly string[]
  /** Prints the code of each answer on a line of its own; the size is the last argument. */
  readonly program: string
  readonly run: (file: string) => readonly string[]
}

const clients: readonly Client[] = [
  {
    name: 'Java’s HttpClient',
    command: 'java',
    probe: ['--version'],
    run: (file) => ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', file],
    program: `
import java.net.URI;
import java.net.http.*;
import java.net.http.HttpRequest.BodyPublishers;
public class Client {
  public static void main(String[] args) throws Exception {
    byte[] body = new byte[Integer.parseInt(args[0])];
    java.util.Arrays.fill(body, (byte) 'x');
    HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    HttpRequest request = HttpRequest.newBuilder(URI.create("${url}"))
        .header("content-type", "application/json").POST(BodyPublishers.ofByteArray(body)).build();
    for (int i = 0; i < ${times}; i++) {
      try {
        String answer = client.send(request, HttpResponse.BodyHandlers.ofString()).body();
        System.out.println(answer.replaceAll(".*\\"code\\":(\\\\d+).*", "$1"));
      } catch (java.io.IOException error) {
        System.out.println(error);
      }
    }
  }
}`,
  },
  {
    name: 'Python’s http.client',
    command: 'python3',
    probe: ['--version'],
    run: (file) => [file],
    program: `
import http.client, json, sys, urllib.parse
body = b'x' * int(sys.argv[1])
url = urllib.parse.urlparse('${url}')
for _ in range(${times}):
    connection = http.client.HTTPConnection(url.hostname, url.port)
    try:
        connection.request('POST', url.path, body, {'content-type': 'application/json'})
        print(json.load(connection.getresponse())['code'])
    except OSError as error:
        print(repr(error))
    connection.close()`,
  },
  {
    name: 'curl',
    command: 'sh',
    probe: ['-c', 'curl --version'],
    run: (file) => [file],
    program: `
head -c "$1" /dev/zero | tr '\\0' x > ${folder}/body
for i in $(seq ${times}); do
  curl -s -H 'content-type: application/json' --data-binary @${folder}/body ${url} | sed 's/.*"code":\\([0-9]*\\).*/\\1/'
  echo
done`,
  },
]

for (const { name, command, probe, program, run } of clients) {
  for (const size of sizes) {
    const isThere = spawnSync(command, [...probe]).status === 0
    const skip = isThere ? false : `${name} is not on this machine`
    test(`${name} reads 41300 for ${size} bytes in ${times} of ${times}`, { skip }, async () => {
      const file = join(folder, command === 'java' ? 'Client.java' : `client-${command}`)
      writeFileSync(file, program)
      const { stdout } = await promisify(execFile)(command, [...run(file), String(size)], {
        timeout: 100_000,
      })
      assert.deepEqual(tally(stdout.split('\n').filter((line) => line !== '')), { 41300: times })
    })
  }
}

for (const size of sizes) {
  test(`Node.js reads 41300 for ${size} bytes in ${times} of ${times}`, async () => {
    const codes: string[] = []
    for (let sent = 0; sent < times; sent++) codes.push(await postWith(size, { isChunked: sent % 2 === 1 }))
    assert.deepEqual(tally(codes), { 41300: times })
  })
}

/** The code of the answer, or what went wrong. */
function postWith(size: number, { isChunked }: { isChunked: boolean }): Promise<string> {
  return new Promise((resolve) => {
    const length = isChunked ? {} : { 'content-length': size }
    const sending = request(url, {
      method: 'POST',
      agent: false,
      headers: { 'content-type': 'application/json', ...length },
    })
    sending.on('response', async (response) => {
      const { code } = JSON.parse(Buffer.concat(await response.toArray()).toString())
      resolve(String(code))
    })
    sending.on('error', (error) => resolve(String(error)))
    sending.end(Buffer.alloc(size, 'x'))
  })
}

function tally(codes: readonly string[]): Record<string, number> {
  const counted: Record<string, number> = {}
  for (const code of codes) counted[code] = (counted[code] ?? 0) + 1
  return counted
}
