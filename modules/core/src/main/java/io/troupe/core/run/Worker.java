package io.troupe.core.run;

/**
 * What the coordinator knows of a rollout worker.
 *
 * @param asked groups it has asked for since it started
 * @param granted groups it has been granted since it started
 * @param present whether it is there
 */
public record Worker(long asked, long granted, boolean present) {
  /** Groups it would take now. */
  public long demand() {
    return present ? Math.max(0, asked - granted) : 0;
  }

  Worker asks(long total) {
    return new Worker(Math.max(asked, total), granted, true);
  }

  Worker gets() {
    return new Worker(asked, granted + 1, present);
  }

  Worker leaves() {
    return new Worker(asked, granted, false);
  }
}
