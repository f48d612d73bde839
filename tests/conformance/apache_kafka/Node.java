import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * One Kafka node, made and started in one process: arguments are its properties, a cluster id, and a
 * file that everyone who needs the node holds a lock on. It ends at once when nobody does any more.
 */
public final class Node {
  private static final long POLL_MS = 200;

  public static void main(String[] arguments) throws Exception {
    String properties = arguments[0];
    String[] format = {"format", "--cluster-id", arguments[1], "--config", properties};
    int failure = kafka.tools.StorageTool.execute(format, System.err);
    if (failure != 0) {
      System.exit(failure);
    }
    var watch = new Thread(() -> endWithoutUsers(Path.of(arguments[2])), "users");
    watch.setDaemon(true);
    watch.start();
    kafka.Kafka.main(new String[] {properties});
  }

  private static void endWithoutUsers(Path users) {
    try (var file = FileChannel.open(users, StandardOpenOption.WRITE)) {
      while (file.tryLock() == null) {
        Thread.sleep(POLL_MS);
      }
    } catch (Exception error) {
      error.printStackTrace();
    }
    Runtime.getRuntime().halt(0);
  }
}
