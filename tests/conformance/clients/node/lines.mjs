// Commands as JSON lines on standard input, one reply a line; ../java/Client.java tells the words.

import { createRequire } from 'node:module'
import { createInterface } from 'node:readline'

// Packages are installed where the program is started, not where it is kept.
export const require = createRequire(`${process.cwd()}/`)

export const DEADLINE_MS = 30_000

export async function serve (handlers) {
  for await (const line of createInterface({ input: process.stdin })) {
    const command = JSON.parse(line)
    let reply
    try {
      reply = await handlers[command.do](command)
    } catch (failure) {
      reply = { error: `${failure.stack}` }
    }
    process.stdout.write(`${JSON.stringify(reply)}\n`)
  }
  process.exit(0)
}

export function decoded (text) {
  return text === null ? null : Buffer.from(text, 'base64')
}

export function encoded (bytes) {
  return bytes === null || bytes === undefined ? null : bytes.toString('base64')
}

// Collects records until every topic has as many as were asked for.
export class Collected {
  constructor (counts) {
    this.missing = { ...counts }
    this.found = Object.fromEntries(Object.keys(counts).map(topic => [topic, []]))
    this.complete = new Promise((resolve, reject) => {
      this.resolve = resolve
      this.deadline = setTimeout(
        () => reject(new Error(`records that did not come: ${JSON.stringify(this.missing)}`)),
        DEADLINE_MS
      )
    })
    // Whoever failed before it could wait for this has told its reason already.
    this.complete.catch(() => {})
  }

  add (topic, record) {
    this.found[topic].push(record)
    this.missing[topic]--
    if (Object.values(this.missing).every(count => count <= 0)) {
      clearTimeout(this.deadline)
      this.resolve(this.found)
    }
  }
}
