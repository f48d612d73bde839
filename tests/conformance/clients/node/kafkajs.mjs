// KafkaJS, with the codecs that it leaves to plug-ins.

import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { Collected, decoded, encoded, require, serve } from './lines.mjs'

const { Kafka, CompressionCodecs, CompressionTypes, logLevel } = require('kafkajs')
const { lz4Compress, lz4Decompress } = require('@platformatic/wasm-utils')

CompressionCodecs[CompressionTypes.Snappy] = require('kafkajs-snappy')
CompressionCodecs[CompressionTypes.LZ4] = () => ({
  compress: async encoder => lz4Compress(encoder.buffer),
  decompress: async buffer => lz4Decompress(buffer)
})
CompressionCodecs[CompressionTypes.ZSTD] = () => ({
  compress: async encoder => zstdCompressSync(encoder.buffer),
  decompress: async buffer => zstdDecompressSync(buffer)
})
const CODECS = {
  none: CompressionTypes.None,
  gzip: CompressionTypes.GZIP,
  snappy: CompressionTypes.Snappy,
  lz4: CompressionTypes.LZ4,
  zstd: CompressionTypes.ZSTD
}

let groups = 0

function kafka ({ bootstrap }) {
  return new Kafka({ clientId: 'kafkajs', brokers: [bootstrap], logLevel: logLevel.NOTHING })
}

async function list (command) {
  const admin = kafka(command).admin()
  await admin.connect()
  try {
    const cluster = await admin.describeCluster()
    const { topics } = await admin.fetchTopicMetadata()
    return {
      cluster_id: cluster.clusterId,
      controller_id: cluster.controller,
      brokers: cluster.brokers.map(({ nodeId, host, port }) => [nodeId, host, port]),
      topics: Object.fromEntries(topics.map(({ name, partitions }) => [name, partitions.length]))
    }
  } finally {
    await admin.disconnect()
  }
}

async function create (command) {
  const admin = kafka(command).admin()
  await admin.connect()
  try {
    const counts = Object.entries(command.partition_counts)
    await admin.createTopics({
      topics: counts.map(([topic, numPartitions]) => ({
        topic,
        numPartitions,
        replicationFactor: 1
      }))
    })
    return {}
  } finally {
    await admin.disconnect()
  }
}

async function produce (command) {
  const producer = kafka(command).producer()
  await producer.connect()
  try {
    await producer.send({
      topic: command.topic,
      compression: CODECS[command.codec],
      messages: command.records.map(record => ({
        partition: record.partition,
        timestamp: `${record.timestamp_ms}`,
        key: decoded(record.key),
        value: decoded(record.value),
        headers: Object.fromEntries(record.headers.map(([name, value]) => [name, decoded(value)]))
      }))
    })
    return {}
  } finally {
    await producer.disconnect()
  }
}

async function consume (command) {
  const collected = new Collected(command.counts)
  const consumer = kafka(command).consumer({ groupId: `kafkajs-${process.pid}-${groups++}` })
  await consumer.connect()
  try {
    await consumer.subscribe({ topics: Object.keys(command.counts), fromBeginning: true })
    await consumer.run({
      autoCommit: false,
      eachMessage: async ({ topic, partition, message }) => {
        // A name that is repeated has all its values in an array.
        const headers = Object.entries(message.headers ?? {}).flatMap(([name, values]) =>
          [values].flat().map(value => [name, encoded(value)])
        )
        collected.add(topic, {
          partition,
          offset: Number(message.offset),
          timestamp_ms: Number(message.timestamp),
          key: encoded(message.key),
          value: encoded(message.value),
          headers
        })
      }
    })
    return await collected.complete
  } finally {
    await consumer.disconnect()
  }
}

await serve({ list, create, produce, consume })
