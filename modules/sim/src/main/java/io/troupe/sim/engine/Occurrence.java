package io.troupe.sim.engine;

/** An action at a time of the {@link Agenda}. */
@FunctionalInterface
public interface Occurrence {
  /**
   * Happens.
   *
   * @param stamp the number it was planned with, by which its owner recognises what it has replaced
   */
  void occur(long stamp);
}
