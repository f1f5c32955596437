package io.troupe.core.run;

/**
 * What operators have set, for as long as the process lives: a resumed run starts without.
 *
 * @param paused whether nothing is admitted and no lease granted
 * @param checkpointAsked whether a checkpoint is to be saved once the running step ends
 * @param concurrency most groups under lease; 0 leaves it to the run's setting
 */
public record Controls(boolean paused, boolean checkpointAsked, int concurrency) {
  /** Nobody has set anything. */
  public static final Controls NONE = new Controls(false, false, 0);

  Controls paused(boolean next) {
    return new Controls(next, checkpointAsked, concurrency);
  }

  Controls checkpointAsked(boolean next) {
    return new Controls(paused, next, concurrency);
  }

  Controls concurrency(int next) {
    return new Controls(paused, checkpointAsked, next);
  }
}
