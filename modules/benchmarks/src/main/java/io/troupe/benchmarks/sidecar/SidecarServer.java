package io.troupe.benchmarks.sidecar;

import com.fasterxml.jackson.databind.json.JsonMapper;
import io.troupe.serve.PolicyServer;
import io.troupe.serve.ServeSettings;
import io.troupe.serve.model.ServedModel;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/**
 * {@code troupe serve}'s server on an engine of {@link SidecarEngine}, the argument. It draws on
 * the same engine within its own process too, so that nothing but the way to it is compared.
 *
 * <p>Lines of its input, each answered by one: {@code port}; {@code cpu}, CPU time so far; {@code
 * burst REQUESTS CONCURRENCY TOKENS} and {@code lone REQUESTS TOKENS}, of {@link ClosedLoopLoad}.
 * Ends with its input.
 */
final class SidecarServer {
  private static final JsonMapper JSON = JsonMapper.builder().build();

  private SidecarServer() {}

  public static void main(String[] arguments) throws IOException {
    SidecarEngine engine = SidecarEngine.valueOf(arguments[0]);
    try (SidecarEngine.Open open = engine.open();
        PolicyServer server =
            PolicyServer.start(
                ServedModel.completing(
                    "policy",
                    open.sampler(),
                    engine.tokenizer(),
                    SidecarEngine.CONTEXT,
                    ServedModel.withoutScorer()),
                ServeSettings.loopback(0),
                "bench");
        BufferedReader lines =
            new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
      ClosedLoopLoad within = new ClosedLoopLoad(open.sampler());
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        System.out.println(JSON.writeValueAsString(answer(line.split(" ", -1), server, within)));
      }
    }
  }

  private static Map<String, Object> answer(
      String[] words, PolicyServer server, ClosedLoopLoad within) {
    return switch (words[0]) {
      case "port" -> Map.of("port", server.port());
      case "cpu" -> Map.of("cpu_ns", processorNanos());
      case "burst" -> {
        ClosedLoopLoad.Burst burst =
            within.burst(
                new ClosedLoopLoad.Form(number(words[1]), number(words[2]), number(words[3])));
        yield Map.of("seconds", burst.seconds(), "tokens", burst.tokens());
      }
      case "lone" -> Map.of("ms", within.loneMillis(number(words[1]), number(words[2])));
      default -> throw new IllegalArgumentException("no command '%s'".formatted(words[0]));
    };
  }

  private static int number(String word) {
    return Integer.parseInt(word);
  }

  /**
   * Processor time that this process's Java threads have taken, carriers of virtual ones included.
   * The just-in-time compiler's is left out: it is much at first and little in a run of hours.
   */
  static long processorNanos() {
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    long sum = 0;
    for (long id : threads.getAllThreadIds()) {
      sum += Math.max(0, threads.getThreadCpuTime(id));
    }
    return sum;
  }
}
