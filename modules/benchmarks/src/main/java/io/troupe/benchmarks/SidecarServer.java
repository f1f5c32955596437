package io.troupe.benchmarks;

import com.fasterxml.jackson.databind.json.JsonMapper;
import io.troupe.engine.http.serve.PolicyServer;
import io.troupe.engine.http.serve.ServeSettings;
import io.troupe.engine.http.serve.Served;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/**
 * {@code troupe serve}'s server on an engine of {@link SidecarEngine}, the argument. Answers each
 * line of its input with its port and the processor time that it has taken; ends with its input.
 */
final class SidecarServer {
  private static final JsonMapper JSON = JsonMapper.builder().build();

  private SidecarServer() {}

  public static void main(String[] arguments) throws IOException {
    SidecarEngine engine = SidecarEngine.valueOf(arguments[0]);
    try (SidecarEngine.Open open = engine.open();
        PolicyServer server =
            PolicyServer.start(
                new Served(
                    "policy",
                    open.sampler(),
                    engine.tokenizer(),
                    SidecarEngine.CONTEXT,
                    Served.Chat.none(),
                    Served.drawsOnly()),
                ServeSettings.loopback(0),
                "bench");
        BufferedReader lines =
            new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
      while (lines.readLine() != null) {
        System.out.println(
            JSON.writeValueAsString(Map.of("port", server.port(), "cpu_ns", processorNanos())));
      }
    }
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
