package io.troupe.base.process;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.function.Consumer;

/**
 * Ties a process to the node agent that started it: its standard input is a pipe from the agent,
 * which ends when the agent ends, however it ends.
 */
public final class ParentWatch {
  /** As if by SIGKILL: the agent is gone, and so is whoever would read the reason. */
  private static final int ORPHANED_EXIT_CODE = 137;

  private ParentWatch() {}

  /**
   * Ends this process with its agent.
   *
   * @param drain called when the agent asks the process to finish its work and to end
   */
  public static void start(Runnable drain) {
    start(drain, _ -> {});
  }

  /**
   * The same, for a process that reports to the head.
   *
   * @param head takes the address, whenever the agent hears of one
   */
  public static void start(Runnable drain, Consumer<String> head) {
    Thread.ofPlatform().name("agent-watch").daemon().start(() -> watch(drain, head));
  }

  private static void watch(Runnable drain, Consumer<String> head) {
    try (BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII))) {
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        if (line.equals(ChildProcesses.DRAIN)) {
          drain.run();
        } else if (line.startsWith(ChildProcesses.COORDINATOR)) {
          head.accept(line.substring(ChildProcesses.COORDINATOR.length()));
        }
      }
    } catch (IOException closed) {
      // The same as its end.
    }
    Runtime.getRuntime().halt(ORPHANED_EXIT_CODE);
  }
}
