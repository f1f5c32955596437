package io.troupe.base.process;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.function.Consumer;

/**
 * Ends a process together with the node agent that started it: the standard input of the process is
 * a pipe from the agent, which closes when the agent ends in any way.
 */
public final class ParentWatch {
  /** The code of SIGKILL: the agent is gone, and no process is left to read a reason. */
  private static final int ORPHANED_EXIT_CODE = 137;

  private ParentWatch() {}

  /**
   * Ends this process when its agent ends.
   *
   * @param drain called when the agent asks the process to finish its work and to end
   */
  public static void start(Runnable drain) {
    start(drain, _ -> {});
  }

  /**
   * Ends this process when its agent ends; for a process that reports to the coordinator.
   *
   * @param coordinator receives the address of each new coordinator that the agent learns of
   */
  public static void start(Runnable drain, Consumer<String> coordinator) {
    Thread.ofPlatform().name("agent-watch").daemon().start(() -> watch(drain, coordinator));
  }

  private static void watch(Runnable drain, Consumer<String> coordinator) {
    try (BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII))) {
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        if (line.equals(ChildProcesses.DRAIN)) {
          drain.run();
        } else if (line.startsWith(ChildProcesses.COORDINATOR)) {
          coordinator.accept(line.substring(ChildProcesses.COORDINATOR.length()));
        }
      }
    } catch (IOException closed) {
      // A broken pipe is the end of the agent, too.
    }
    Runtime.getRuntime().halt(ORPHANED_EXIT_CODE);
  }
}
