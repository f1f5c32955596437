package io.troupe.engine.http.fleet;

import java.nio.file.Path;
import java.util.function.Consumer;

/** Supervises the servers of a fleet and can restart them. */
public interface ServerSupervisor {
  /** Reports that a server hangs or an update stopped half-way, so that it must be restarted. */
  void restartNeeded(String name);

  /** Whether a server may be restarted for each weight version. */
  boolean restartsForWeights(String name);

  /**
   * Restarts a server with weights, at the same address; blocks.
   *
   * @return whether the server serves
   */
  boolean restart(String name, Path weights) throws InterruptedException;

  /** No supervisor: the servers run independently. */
  static ServerSupervisor none() {
    return listening(_ -> {});
  }

  /** A supervisor that only receives reports of broken servers. */
  static ServerSupervisor listening(Consumer<String> broken) {
    return new ServerSupervisor() {
      @Override
      public void restartNeeded(String name) {
        broken.accept(name);
      }

      @Override
      public boolean restartsForWeights(String name) {
        return false;
      }

      @Override
      public boolean restart(String name, Path weights) {
        return false;
      }
    };
  }
}
