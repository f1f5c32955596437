package io.troupe.engine.http;

import java.nio.file.Path;
import java.util.function.Consumer;

/** Who keeps the servers of a fleet, and can start them anew. */
public interface Keeper {
  /** A server hangs, or its update is half done: it is to be started anew. */
  void broken(String name);

  /** Whether a server may be started anew for each version of the weights. */
  boolean restartsForWeights(String name);

  /**
   * Ends a server and starts it with weights, at the same address; blocks.
   *
   * @return whether it serves
   */
  boolean restart(String name, Path weights) throws InterruptedException;

  /** Nobody: others run the servers. */
  static Keeper nobody() {
    return hearing(_ -> {});
  }

  /** One that only hears of broken servers. */
  static Keeper hearing(Consumer<String> broken) {
    return new Keeper() {
      @Override
      public void broken(String name) {
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
