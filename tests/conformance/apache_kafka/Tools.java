import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.utils.Exit;

/**
 * Kafka's command line tools, one after the other in one process, which saves each its second of
 * starting up: {"tool": class, "arguments": [...], "input": text} a line in, {"exit_code": n, "out":
 * text, "err": text} a line out.
 */
public final class Tools {
  private static final ObjectMapper JSON = new ObjectMapper();

  /** What a tool leaves to be done at the end of its process: a producer sends its last records. */
  private static final List<Runnable> HOOKS = new ArrayList<>();

  /** The first exit that a tool asks for; some catch what ends them, and ask again. */
  private static Integer exitCode;

  private static final class Exited extends Error {
    Exited(int code) {
      super("exit " + code, null, false, false);
    }
  }

  public static void main(String[] arguments) throws Exception {
    var commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    var replies = System.out;
    Exit.setExitProcedure((code, message) -> exit(code));
    Exit.setHaltProcedure((code, message) -> exit(code));
    Exit.setShutdownHookAdder((name, hook) -> HOOKS.add(hook));
    for (String line = commands.readLine(); line != null; line = commands.readLine()) {
      replies.println(JSON.writeValueAsString(run(JSON.readTree(line))));
      replies.flush();
    }
  }

  private static void exit(int code) {
    exitCode = exitCode == null ? code : exitCode;
    throw new Exited(code);
  }

  private static Map<String, Object> run(JsonNode command) throws Exception {
    var out = new ByteArrayOutputStream();
    var err = new ByteArrayOutputStream();
    System.setIn(new ByteArrayInputStream(command.get("input").asText().getBytes()));
    System.setOut(new PrintStream(out, true, StandardCharsets.UTF_8));
    System.setErr(new PrintStream(err, true, StandardCharsets.UTF_8));
    exitCode = null;
    scala.Console.withOut(System.out, () -> call(command));
    HOOKS.forEach(Runnable::run);
    HOOKS.clear();
    System.out.flush();
    System.err.flush();
    int code = exitCode == null ? 0 : exitCode;
    return Map.of("exit_code", code, "out", out.toString(), "err", err.toString());
  }

  private static boolean call(JsonNode command) {
    String[] arguments = JSON.convertValue(command.get("arguments"), String[].class);
    try {
      Method main = Class.forName(command.get("tool").asText()).getMethod("main", String[].class);
      main.invoke(null, (Object) arguments);
    } catch (InvocationTargetException failure) {
      if (!(failure.getCause() instanceof Exited)) {
        failure.getCause().printStackTrace();
        exitCode = 1;
      }
    } catch (ReflectiveOperationException failure) {
      failure.printStackTrace();
      exitCode = 1;
    }
    return true;
  }
}
