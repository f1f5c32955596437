package io.troupe.base.clock;

import java.time.Duration;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;

/** Time, chance, and where a line for the operator goes. */
public interface Surroundings {
  /** Milliseconds since 1970. */
  long nowMillis();

  void pause(Duration time) throws InterruptedException;

  RandomGenerator random();

  /** The pause before a service is asked again how far it is. */
  Duration lookAgain();

  void say(String line);

  /** The surroundings of this process. */
  static Surroundings ofProcess(Duration lookAgain, Consumer<String> say) {
    return new Surroundings() {
      @Override
      public long nowMillis() {
        return System.currentTimeMillis();
      }

      @Override
      public void pause(Duration time) throws InterruptedException {
        Thread.sleep(time);
      }

      @Override
      public RandomGenerator random() {
        return RandomGenerator.getDefault();
      }

      @Override
      public Duration lookAgain() {
        return lookAgain;
      }

      @Override
      public void say(String line) {
        say.accept(line);
      }
    };
  }
}
