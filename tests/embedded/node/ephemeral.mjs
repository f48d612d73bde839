// A test suite of another language: starts a broker, uses it, and ends without stopping it.
// Its arguments are the command of the broker; the packages are where it is started.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { createInterface } from 'node:readline'

const { Kafka, logLevel } = createRequire(`${process.cwd()}/`)('kafkajs')

const [program, ...words] = process.argv.slice(2)
const broker = spawn(program, words, { stdio: ['pipe', 'pipe', 'inherit'] })
const [bootstrap] = await once(createInterface({ input: broker.stdout }), 'line')

const kafka = new Kafka({ brokers: [bootstrap], logLevel: logLevel.ERROR })
const admin = kafka.admin()
await admin.connect()
await admin.createTopics({ topics: [{ topic: 'orders', numPartitions: 3, replicationFactor: 1 }] })
const producer = kafka.producer()
await producer.connect()
await producer.send({ topic: 'orders', messages: [{ partition: 2, value: 'a book' }] })
const offsets = await admin.fetchTopicOffsets('orders')
await producer.disconnect()
await admin.disconnect()

console.log(JSON.stringify({
  bootstrap,
  pid: broker.pid,
  ends: offsets.sort((one, other) => one.partition - other.partition).map(({ high }) => high)
}))
process.exit(0)
