// @platformatic/kafka, with its defaults.

import { Collected, DEADLINE_MS, decoded, encoded, require, serve } from './lines.mjs'

const { Admin, Consumer, Producer } = require('@platformatic/kafka')

let groups = 0

function settings ({ bootstrap }) {
  return { clientId: 'platformatic', bootstrapBrokers: [bootstrap], timeout: DEADLINE_MS }
}

async function list (command) {
  const admin = new Admin(settings(command))
  try {
    const topics = await admin.listTopics()
    const cluster = await admin.metadata({ topics, forceUpdate: true })
    return {
      cluster_id: cluster.id,
      controller_id: cluster.controllerId,
      brokers: [...cluster.brokers].map(([nodeId, { host, port }]) => [nodeId, host, port]),
      topics: Object.fromEntries(
        [...cluster.topics].map(([name, { partitionsCount }]) => [name, partitionsCount])
      )
    }
  } finally {
    await admin.close()
  }
}

async function create (command) {
  const admin = new Admin(settings(command))
  try {
    for (const [topic, partitions] of Object.entries(command.partition_counts)) {
      await admin.createTopics({ topics: [topic], partitions, replicas: 1 })
    }
    return {}
  } finally {
    await admin.close()
  }
}

async function produce (command) {
  const producer = new Producer({ ...settings(command), autocreateTopics: true })
  try {
    await producer.send({
      compression: command.codec,
      messages: command.records.map(record => ({
        topic: command.topic,
        partition: record.partition,
        timestamp: BigInt(record.timestamp_ms),
        key: decoded(record.key),
        value: decoded(record.value),
        headers: new Map(record.headers.map(([name, value]) => [Buffer.from(name), decoded(value)]))
      }))
    })
    return {}
  } finally {
    await producer.close()
  }
}

async function consume (command) {
  const collected = new Collected(command.counts)
  const groupId = `platformatic-${process.pid}-${groups++}`
  const consumer = new Consumer({ ...settings(command), groupId })
  try {
    const topics = Object.keys(command.counts)
    const stream = await consumer.consume({ topics, mode: 'earliest', autocommit: false })
    stream.on('data', message => {
      collected.add(message.topic, {
        partition: message.partition,
        offset: Number(message.offset),
        timestamp_ms: Number(message.timestamp),
        key: encoded(message.key),
        value: encoded(message.value),
        headers: message.headerEntries.map(([name, value]) => [name.toString(), encoded(value)])
      })
    })
    const failed = new Promise((_, reject) => stream.on('error', reject))
    return await Promise.race([collected.complete, failed])
  } finally {
    await consumer.close(true)
  }
}

await serve({ list, create, produce, consume })
