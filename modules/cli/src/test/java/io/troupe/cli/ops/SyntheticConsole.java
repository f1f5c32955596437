package io.troupe.cli.ops;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.troupe.console.ConsoleServer;
import io.troupe.console.ConsoleSettings;
import io.troupe.telemetry.view.GroupQuery;
import io.troupe.telemetry.view.GroupRow;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A console over a recorded run, one group of which has hostile texts. */
public final class SyntheticConsole implements AutoCloseable {
  private final ConsoleServer server;
  private final SyntheticRun run;
  private final long hostileGroup;

  private SyntheticConsole(ConsoleServer server, SyntheticRun run, long hostileGroup) {
    this.server = server;
    this.run = run;
    this.hostileGroup = hostileGroup;
  }

  /**
   * Opens one over a run of 16 nodes that has trained {@code groups} groups.
   *
   * @param live whether it takes orders, which are then written down and not carried out
   */
  public static SyntheticConsole open(Path folder, int groups, boolean live) throws IOException {
    Path rollouts = folder.resolve("rollouts.jsonl");
    SyntheticRun run = new SyntheticRun(folder, groups, live);
    GroupRow row = run.fold().groups(new GroupQuery("trained", "newest", 1)).getFirst();
    long group = row.group();
    String hostile =
        "<img src=x onerror=alert(1)><script>alert(2)</script>\u202Ereversed\u2066\u0007\u001b[2J";
    Map<String, Object> line = new LinkedHashMap<>();
    line.put("group", group);
    line.put("fence", 1);
    line.put("prompt", hostile);
    line.put("answer", hostile);
    line.put("completions", List.of(hostile, "x".repeat(1 << 20), "\n".repeat(500), "42"));
    line.put("rewards", List.of(0, 1, 0, 1));
    line.put("verdicts", List.of(hostile, "equal", "different", "equal"));
    Map<String, Object> plain = Map.of("stop", "completed", "turns", List.of());
    line.put("episodes", List.of(plain, plain, plain, episode(hostile, row.newest())));
    Files.writeString(rollouts, new ObjectMapper().writeValueAsString(line) + "\n");
    Files.writeString(
        folder.resolve("trained.jsonl"),
        """
        {"step":%d,"groups":[{"group":%d,"fence":%d,"marks":[{"low":[[3,2]],"high":[[40,1]]},{},\
        {"masked":[[0,100]]},{"high":[[7,1]],"cut":[[5,9]]}]}]}
        """
            .formatted(row.step(), group, row.fence()));
    return new SyntheticConsole(ConsoleServer.start(ConsoleSettings.loopback(0), run), run, group);
  }

  /** Two turns with a call between them, by a policy and a tool that try to mislead. */
  private static Map<String, Object> episode(String hostile, long version) {
    Map<String, Object> tool =
        Map.of(
            "name",
            hostile,
            "outcome",
            "unknown_tool",
            "exit",
            1,
            "millis",
            13,
            "argument_bytes",
            2_048,
            "bytes",
            5);
    Map<String, Object> call = new LinkedHashMap<>();
    call.put("agent", "main");
    call.put("sequence", 0);
    call.put("observed", "");
    call.put("sampled", "<tool_call>" + hostile);
    call.put("observed_tokens", 0);
    call.put("versions", List.of(List.of(0, 12), List.of(version, 30)));
    call.put("trained", true);
    call.put("millis", 1_900);
    call.put("tools", List.of(tool));
    Map<String, Object> answer = new LinkedHashMap<>(call);
    answer.put("observed", "error");
    answer.put("sampled", "42");
    answer.put("observed_tokens", 7);
    answer.put("versions", List.of(List.of(version, 3)));
    answer.put("millis", 240);
    answer.put("tools", List.of());
    return Map.of("stop", "max_turns", "turns", List.of(call, answer));
  }

  /** Returns the address of the console. */
  public String url() {
    return server.address().toString();
  }

  /** Returns the orders so far. */
  public List<String> orders() {
    return run.orders();
  }

  /** The group with the hostile texts. */
  public long hostileGroup() {
    return hostileGroup;
  }

  @Override
  public void close() {
    server.close();
  }
}
