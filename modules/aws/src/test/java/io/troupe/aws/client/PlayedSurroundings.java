package io.troupe.aws.client;

import io.troupe.base.clock.Surroundings;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;

/** Surroundings whose time passes by pauses alone. */
public final class PlayedSurroundings implements Surroundings {
  /** The lines for the operator, in order. */
  public final List<String> said = new ArrayList<>();

  private final RandomGenerator random = new SplittableRandom(1);
  private final Runnable onPause;

  /** Milliseconds since 1970. */
  public long now = 1_000_000_000_000L;

  /**
   * Surroundings in which something happens at each pause.
   *
   * @param onPause what happens
   */
  public PlayedSurroundings(Runnable onPause) {
    this.onPause = onPause;
  }

  @Override
  public long nowMillis() {
    return now;
  }

  @Override
  public void pause(Duration time) {
    now += time.toMillis();
    onPause.run();
  }

  @Override
  public RandomGenerator random() {
    return random;
  }

  @Override
  public Duration lookAgain() {
    return Duration.ofSeconds(5);
  }

  @Override
  public void say(String line) {
    said.add(line);
  }
}
