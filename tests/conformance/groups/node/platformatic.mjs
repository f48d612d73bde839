// A member of a group: BOOTSTRAP GROUP TOPIC NAME; ../python_member.py tells what it says.

import { createRequire } from 'node:module'

const require = createRequire(`${process.cwd()}/`)
const { Consumer } = require('@platformatic/kafka')

const [bootstrap, groupId, topic, clientId] = process.argv.slice(2)
const say = said => process.stdout.write(`${JSON.stringify(said)}\n`)

const consumer = new Consumer({
  clientId,
  groupId,
  bootstrapBrokers: [bootstrap],
  sessionTimeout: 6000,
  rebalanceTimeout: 30000,
  heartbeatInterval: 500,
  maxWaitTime: 200,
  retries: 100,
  retryDelay: 200
})
consumer.on('consumer:group:join', ({ assignments }) => {
  const own = assignments?.find(each => each.topic === topic)
  say({ assigned: own ? own.partitions : [] })
})
process.on('SIGTERM', async () => {
  await consumer.close(true)
  process.exit(0)
})

// A stream ends when the broker is gone for too long; another one goes on where it stopped.
while (true) {
  try {
    const stream = await consumer.consume({
      topics: [topic],
      mode: 'committed',
      fallbackMode: 'earliest',
      autocommit: false
    })
    for await (const message of stream) {
      await message.commit()
      say({ read: [[message.partition, Number(message.offset)]] })
    }
  } catch (failure) {
    process.stderr.write(`${failure.message}\n`)
    await new Promise(resolve => setTimeout(resolve, 200))
  }
}
