package io.troupe.engine.http.fleet;

import java.nio.file.Path;
import java.util.function.Consumer;

/** Who keeps the servers of a fleet, and can start them anew. */
public interface ServerSupervisor {
  /** A server hangs, or its update is half done: it is to be started anew. */
  void restartNeeded(String name);

  /** Whether a server may be started anew for each version of the weights. */
  boolean restartsForWeights(String name);

  /**
   * Ends a server and starts it with weights, at the same address; blocks.
   *
   * @return whether it serves
   */
  boolean restart(String name, Path weights) throws InterruptedException;

  /** Nobody: others run the servers. */
  static ServerSupervisor none() {
    return listening(_ -> {});
  }

  /** One that only hears of broken servers. */
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
