"""What settings are for, for people who ask a broker; loaded when the first of them does."""

from riverlog.broker.topic_configs import TOPIC_CONFIGS

_WITHOUT_EFFECT = "Accepted, kept and shown, but without effect here."

_TOPIC = {
    "cleanup.policy": "What becomes of old records: 'delete' drops them when retention says so, "
    "'compact' keeps the last one of each key. Both may be given; an empty list keeps all. Nothing "
    "is compacted here yet: without 'delete', all records are kept.",
    "compression.gzip.level": "How hard gzip works where the broker compresses: 1 to 9, or -1 for "
    "the library's own choice.",
    "compression.lz4.level": "How hard lz4 works where the broker compresses: 1 to 17.",
    "compression.type": "How batches are kept: 'producer' leaves them as they were sent; "
    "otherwise the codec that all of them are to have.",
    "compression.zstd.level": "How hard zstd works where the broker compresses: -131072 to 22.",
    "delete.retention.ms": "How long a compacted topic keeps a record that deletes its key, in "
    "milliseconds; a reader that starts at the beginning should need no longer.",
    "file.delete.delay.ms": "How long a file outlives the records it held, in milliseconds.",
    "flush.messages": "After how many records a sync is forced. Everything is synced here as fast "
    "as the disk goes, and nothing is shown to consumers before.",
    "flush.ms": "After how many milliseconds a sync is forced. Everything is synced here as fast "
    "as the disk goes, and nothing is shown to consumers before.",
    "follower.replication.throttled.replicas": "Copies whose fetching is slowed down, as "
    "PARTITION:BROKER with commas between them, or * for all.",
    "index.interval.bytes": "How many bytes of records lie between two entries of the index.",
    "leader.replication.throttled.replicas": "Copies whose serving is slowed down, as "
    "PARTITION:BROKER with commas between them, or * for all.",
    "local.retention.bytes": "With tiered storage, how many bytes of a partition stay on the "
    "broker's disk; -2 means as many as retention.bytes.",
    "local.retention.ms": "With tiered storage, how long records stay on the broker's disk, in "
    "milliseconds; -2 means as long as retention.ms.",
    "max.compaction.lag.ms": "How long a record may wait to be compacted, in milliseconds.",
    "max.message.bytes": "The largest batch of records that is taken, in bytes, as it was sent.",
    "message.timestamp.after.max.ms": "Records whose time lies further ahead of the broker's "
    "clock, in milliseconds, are refused; not with LogAppendTime.",
    "message.timestamp.before.max.ms": "Records whose time lies further behind the broker's "
    "clock, in milliseconds, are refused; not with LogAppendTime.",
    "message.timestamp.type": "Whether records keep the time that their producer gave them "
    "(CreateTime) or get that of their arrival (LogAppendTime).",
    "min.cleanable.dirty.ratio": "How much of a log must be uncompacted, from 0 to 1, before it "
    "is compacted.",
    "min.compaction.lag.ms": "How long a record stays uncompacted at least, in milliseconds.",
    "min.insync.replicas": "How many copies must have a record before acks=all is answered. There "
    "is one copy here, and acks=all waits until it is on the disk, whatever this says.",
    "preallocate": "Whether files get their full size when they are made.",
    "remote.log.copy.disable": "With tiered storage, stop copying records to it.",
    "remote.log.delete.on.disable": "With tiered storage, delete what is there when the topic "
    "leaves it.",
    "remote.storage.enable": "Whether old records move to tiered storage. It cannot be turned on.",
    "retention.bytes": "How many bytes of records a partition keeps before the oldest are "
    "dropped; -1 means no limit.",
    "retention.ms": "How long records are kept before they are dropped, in milliseconds; -1 "
    "means no limit.",
    "riverlog.retention.segments": "How many files a partition keeps before the oldest are "
    "dropped; -1 means no limit. Kafka does not have this setting.",
    "riverlog.segment.records": "A file of a partition is closed when it holds so many records. "
    "Kafka does not have this setting.",
    "segment.bytes": "A file of a partition is closed when it would outgrow this, in bytes. Files "
    "may be as small as 14 bytes here.",
    "segment.index.bytes": "How large the index of one file may grow, in bytes.",
    "segment.jitter.ms": "By how much, at random, files are closed earlier than segment.ms says, "
    "in milliseconds.",
    "segment.ms": "A file of a partition is closed when its first record is this old, in "
    "milliseconds, although it has room.",
    "unclean.leader.election.enable": "Whether a copy that missed records may take over. There is "
    "one copy here, and it misses none.",
}

_BROKER = {
    "advertised.listeners": "Where clients are told to come to.",
    "auto.create.topics.enable": "Whether a topic is made when a client first asks for it.",
    "broker.id": "The number that clients know this broker by.",
    "default.replication.factor": "How many copies a topic has: one, kept by this broker.",
    "delete.topic.enable": "Whether topics can be deleted.",
    "log.dirs": "The directory that everything is kept in.",
    "log.retention.check.interval.ms": "How often files are looked for that have to go, in "
    "milliseconds.",
    "node.id": "The number that clients know this broker by.",
    "num.partitions": "How many partitions a topic has that is made without saying how many.",
    "offsets.topic.replication.factor": "How many copies there are of what groups have committed.",
    "process.roles": "What this process is: it does everything itself.",
    "producer.id.expiration.ms": "How long a producer that writes nothing is remembered, in "
    "milliseconds.",
}

_TOPIC_NAMES = {c.broker_name: c.name for c in TOPIC_CONFIGS.values() if c.broker_name}


def documentation_of(name: str) -> str:
    """What a setting of a topic or a broker is for, and whether it has an effect here."""
    if name in _BROKER:
        return _BROKER[name]
    topic_name = name if name in TOPIC_CONFIGS else _TOPIC_NAMES[name]
    told = _TOPIC[topic_name]
    if not TOPIC_CONFIGS[topic_name].field:
        told = f"{told} {_WITHOUT_EFFECT}"
    return told
