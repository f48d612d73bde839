// A member of a group: BOOTSTRAP GROUP TOPIC NAME; ../python_member.py tells what it says.

import { createRequire } from 'node:module'

const require = createRequire(`${process.cwd()}/`)
const { AssignerProtocol, Kafka, PartitionAssigners, logLevel } = require('kafkajs')

const [bootstrap, groupId, topic, clientId] = process.argv.slice(2)
const say = said => process.stdout.write(`${JSON.stringify(said)}\n`)

// Its own assigner, under the name by which the others know it.
const roundrobin = options => {
  const assigner = PartitionAssigners.roundRobin(options)
  return {
    ...assigner,
    name: 'roundrobin',
    protocol: ({ topics }) => ({
      name: 'roundrobin',
      metadata: AssignerProtocol.MemberMetadata.encode({
        version: 0,
        topics,
        userData: Buffer.alloc(0)
      })
    })
  }
}

const kafka = new Kafka({
  clientId,
  brokers: [bootstrap],
  logLevel: logLevel.NOTHING,
  retry: { initialRetryTime: 100, maxRetryTime: 500, retries: 100 }
})
const consumer = kafka.consumer({
  groupId,
  sessionTimeout: 6000,
  rebalanceTimeout: 30000,
  heartbeatInterval: 500,
  maxWaitTimeInMs: 200,
  partitionAssigners: [roundrobin],
  retry: { initialRetryTime: 100, maxRetryTime: 500, retries: 100 }
})
consumer.on(consumer.events.GROUP_JOIN, ({ payload }) => {
  say({ assigned: payload.memberAssignment[topic] ?? [] })
})
process.on('SIGTERM', async () => {
  await consumer.disconnect()
  process.exit(0)
})
await consumer.connect()
await consumer.subscribe({ topics: [topic], fromBeginning: true })
await consumer.run({
  autoCommit: false,
  eachBatch: async ({ batch, heartbeat }) => {
    if (!batch.messages.length) return
    const read = batch.messages.map(message => [batch.partition, Number(message.offset)])
    const offset = `${read.at(-1)[1] + 1}`
    await consumer.commitOffsets([{ topic, partition: batch.partition, offset }])
    say({ read })
    await heartbeat()
  }
})
