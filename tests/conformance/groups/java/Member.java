import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import org.apache.kafka.clients.consumer.CommitFailedException;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** A member of a group: BOOTSTRAP GROUP TOPIC NAME; ../python_member.py tells what it says. */
public final class Member {
  public static void main(String[] arguments) throws Exception {
    var settings = new HashMap<String, Object>();
    settings.put("bootstrap.servers", arguments[0]);
    settings.put("group.id", arguments[1]);
    settings.put("client.id", arguments[3]);
    settings.put("session.timeout.ms", 6000);
    settings.put("heartbeat.interval.ms", 500);
    settings.put("reconnect.backoff.max.ms", 500);
    settings.put(
        "partition.assignment.strategy", "org.apache.kafka.clients.consumer.RoundRobinAssignor");
    settings.put("auto.offset.reset", "earliest");
    settings.put("enable.auto.commit", false);
    var bytes = new ByteArrayDeserializer();
    var consumer = new KafkaConsumer<byte[], byte[]>(settings, bytes, bytes);
    var main = Thread.currentThread();
    Runtime.getRuntime()
        .addShutdownHook(
            new Thread(
                () -> {
                  consumer.wakeup();
                  try {
                    main.join();
                  } catch (InterruptedException ended) {
                    main.interrupt();
                  }
                }));
    consumer.subscribe(
        List.of(arguments[2]),
        new ConsumerRebalanceListener() {
          public void onPartitionsAssigned(Collection<TopicPartition> assigned) {
            say("assigned", assigned.stream().map(each -> "" + each.partition()).toList());
          }

          public void onPartitionsRevoked(Collection<TopicPartition> revoked) {
            say("assigned", List.of());
          }
        });
    try {
      while (true) {
        var read = new ArrayList<String>();
        for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofMillis(200))) {
          read.add("[" + record.partition() + "," + record.offset() + "]");
        }
        if (!read.isEmpty() && committed(consumer)) {
          say("read", read);
        }
      }
    } catch (WakeupException ending) {
      consumer.close();
    }
  }

  private static boolean committed(KafkaConsumer<byte[], byte[]> consumer) {
    try {
      consumer.commitSync();
      return true;
    } catch (WakeupException ending) {
      throw ending;
    } catch (CommitFailedException lost) {
      return false;
    } catch (KafkaException failed) {
      return false;
    }
  }

  private static synchronized void say(String what, List<String> values) {
    System.out.println("{\"" + what + "\": [" + String.join(",", values) + "]}");
  }
}
