import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * The Java client, driven by JSON lines: one command a line in, one reply a line out.
 *
 * <p>{"do": "list", "bootstrap": B}; {"do": "create", "bootstrap": B, "partition_counts": {T: N,
 * ...}}; {"do": "produce", "bootstrap": B, "topic": T, "codec": C, "records": [R, ...]}; {"do":
 * "consume", "bootstrap": B, "counts": {T: N, ...}}. A record has partition, key, value, headers
 * (pairs) and timestamp_ms; bytes are in base64. What fails is answered with {"error": text}.
 */
public final class Client {
  private static final Gson GSON = new GsonBuilder().serializeNulls().disableHtmlEscaping().create();
  private static final long DEADLINE_S = 30;

  public static void main(String[] arguments) throws Exception {
    var commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    var replies = new PrintStream(System.out, false, StandardCharsets.UTF_8);
    for (String line = commands.readLine(); line != null; line = commands.readLine()) {
      replies.println(GSON.toJson(answer(GSON.fromJson(line, JsonObject.class))));
      replies.flush();
    }
  }

  private static JsonObject answer(JsonObject command) {
    try {
      return switch (command.get("do").getAsString()) {
        case "list" -> list(command);
        case "create" -> create(command);
        case "produce" -> produce(command);
        case "consume" -> consume(command);
        default -> throw new IllegalArgumentException("no such command: " + command);
      };
    } catch (Exception failure) {
      var reply = new JsonObject();
      reply.addProperty("error", failure.toString());
      return reply;
    }
  }

  private static JsonObject list(JsonObject command) throws Exception {
    var reply = new JsonObject();
    try (var admin = Admin.create(settings(command))) {
      var cluster = admin.describeCluster();
      reply.addProperty("cluster_id", soon(cluster.clusterId()));
      reply.addProperty("controller_id", soon(cluster.controller()).id());
      var brokers = new JsonArray();
      for (Node node : soon(cluster.nodes())) {
        var broker = new JsonArray();
        broker.add(node.id());
        broker.add(node.host());
        broker.add(node.port());
        brokers.add(broker);
      }
      reply.add("brokers", brokers);
      var topics = new JsonObject();
      var names = soon(admin.listTopics().names());
      for (TopicDescription topic : soon(admin.describeTopics(names).allTopicNames()).values()) {
        topics.addProperty(topic.name(), topic.partitions().size());
      }
      reply.add("topics", topics);
    }
    return reply;
  }

  private static JsonObject create(JsonObject command) throws Exception {
    var topics = new ArrayList<NewTopic>();
    for (var entry : command.getAsJsonObject("partition_counts").entrySet()) {
      topics.add(new NewTopic(entry.getKey(), entry.getValue().getAsInt(), (short) 1));
    }
    try (var admin = Admin.create(settings(command))) {
      soon(admin.createTopics(topics).all());
    }
    return new JsonObject();
  }

  private static JsonObject produce(JsonObject command) throws Exception {
    var settings = settings(command);
    settings.put("compression.type", command.get("codec").getAsString());
    settings.put("linger.ms", 20);
    var topic = command.get("topic").getAsString();
    var bytes = new ByteArraySerializer();
    try (var producer = new KafkaProducer<byte[], byte[]>(settings, bytes, bytes)) {
      var sent = new ArrayList<Future<RecordMetadata>>();
      for (JsonElement element : command.getAsJsonArray("records")) {
        var given = element.getAsJsonObject();
        var record =
            new ProducerRecord<byte[], byte[]>(
                topic,
                given.get("partition").getAsInt(),
                given.get("timestamp_ms").getAsLong(),
                decoded(given.get("key")),
                decoded(given.get("value")));
        for (JsonElement header : given.getAsJsonArray("headers")) {
          var pair = header.getAsJsonArray();
          record.headers().add(pair.get(0).getAsString(), decoded(pair.get(1)));
        }
        sent.add(producer.send(record));
      }
      producer.flush();
      for (var each : sent) {
        soon(each);
      }
    }
    return new JsonObject();
  }

  private static JsonObject consume(JsonObject command) throws Exception {
    var missing = new HashMap<String, Integer>();
    var found = new JsonObject();
    for (var entry : command.getAsJsonObject("counts").entrySet()) {
      missing.put(entry.getKey(), entry.getValue().getAsInt());
      found.add(entry.getKey(), new JsonArray());
    }
    var settings = settings(command);
    settings.put("enable.auto.commit", false);
    settings.put("auto.offset.reset", "none");
    settings.put("isolation.level", "read_committed");
    var bytes = new ByteArrayDeserializer();
    try (var consumer = new KafkaConsumer<byte[], byte[]>(settings, bytes, bytes)) {
      var partitions = new ArrayList<TopicPartition>();
      for (String topic : missing.keySet()) {
        for (PartitionInfo partition : consumer.partitionsFor(topic)) {
          partitions.add(new TopicPartition(topic, partition.partition()));
        }
      }
      consumer.assign(partitions);
      consumer.seekToBeginning(partitions);
      long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(DEADLINE_S);
      while (missing.values().stream().anyMatch(count -> count > 0)) {
        if (System.nanoTime() > deadline) {
          throw new TimeoutException("records that did not come: " + missing);
        }
        for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofMillis(200))) {
          found.getAsJsonArray(record.topic()).add(encoded(record));
          missing.merge(record.topic(), -1, Integer::sum);
        }
      }
    }
    return found;
  }

  private static JsonObject encoded(ConsumerRecord<byte[], byte[]> record) {
    var given = new JsonObject();
    given.addProperty("partition", record.partition());
    given.addProperty("offset", record.offset());
    given.addProperty("timestamp_ms", record.timestamp());
    given.add("key", encoded(record.key()));
    given.add("value", encoded(record.value()));
    var headers = new JsonArray();
    for (Header header : record.headers()) {
      var pair = new JsonArray();
      pair.add(header.key());
      pair.add(encoded(header.value()));
      headers.add(pair);
    }
    given.add("headers", headers);
    return given;
  }

  private static Map<String, Object> settings(JsonObject command) {
    var settings = new HashMap<String, Object>();
    settings.put("bootstrap.servers", command.get("bootstrap").getAsString());
    return settings;
  }

  private static <T> T soon(Future<T> future) throws Exception {
    return future.get(DEADLINE_S, TimeUnit.SECONDS);
  }

  private static byte[] decoded(JsonElement text) {
    return text.isJsonNull() ? null : Base64.getDecoder().decode(text.getAsString());
  }

  private static JsonElement encoded(byte[] bytes) {
    if (bytes == null) {
      return JsonNull.INSTANCE;
    }
    return new JsonPrimitive(Base64.getEncoder().encodeToString(bytes));
  }
}
