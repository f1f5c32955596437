package io.troupe.engine.http;

import java.util.Locale;

/**
 * One update of one server, step by step.
 *
 * <p>Invariants: the new weights are announced only after every step of the way has succeeded; the
 * moving (the reading, or the restart) is begun at most once; a server whose moving was begun and
 * whose update did not succeed is never used again as it is; and whatever was paused is resumed, or
 * the server is given up. One that does not answer while it has nothing else to do is given up at
 * once.
 *
 * @param way the steps
 * @param done how many of them are
 * @param tries of the present step that failed
 * @param moving whether the reading or the restart was begun, or the server hangs
 * @param retreat whether the update is given up, and only the resuming is left
 * @param reason of the first failure that ended it, or empty
 */
public record Update(
    UpdateWay way, int done, int tries, boolean moving, boolean retreat, String reason) {
  private static final int MOST_TRIES = 3;

  /** What is to be done next. */
  public sealed interface Next {
    /** This step. */
    record Do(UpdateStep step) implements Next {}

    /** Nothing: the new weights are in use. */
    record Moved() implements Next {}

    /** Nothing: the old weights are in use, and intact. */
    record Unmoved(String reason) implements Next {}

    /** The server must not be used before it got whole weights, or was started anew. */
    record Broken(String reason) implements Next {}
  }

  /** An update that is about to begin. */
  public static Update begin(UpdateWay way) {
    return new Update(way, 0, 0, false, false, "");
  }

  /** Only the last step of a way, a try: the server has the weights already. */
  static Update lastOf(UpdateWay way) {
    return new Update(way, way.steps().size() - 1, 0, true, false, "");
  }

  public Next next() {
    if (retreat) {
      return tries < MOST_TRIES
          ? new Next.Do(UpdateStep.RESUME)
          : new Next.Broken(reason + "; then it could not be resumed");
    }
    if (!reason.isEmpty()) {
      return moving ? new Next.Broken(reason) : new Next.Unmoved(reason);
    }
    return done == way.steps().size() ? new Next.Moved() : new Next.Do(way.steps().get(done));
  }

  /** A step is about to be sent; from then on nobody knows how far it got. */
  public Update started(UpdateStep step) {
    return step.moves() ? new Update(way, done, tries, true, retreat, reason) : this;
  }

  /** The step succeeded. */
  public Update succeeded() {
    return retreat
        ? new Update(way, done, 0, moving, false, reason)
        : new Update(way, done + 1, 0, moving, false, reason);
  }

  /**
   * The server took a step, had nothing else to do, and did not answer: it hangs, and is to be
   * started anew.
   */
  public Update hung(UpdateStep step) {
    return new Update(way, done, 0, true, false, "%s hangs".formatted(words(step)));
  }

  private static String words(UpdateStep step) {
    return step.name().toLowerCase(Locale.ROOT);
  }

  /** The step failed. */
  public Update failed(String why) {
    if (retreat) {
      return new Update(way, done, tries + 1, moving, true, reason);
    }
    UpdateStep step = way.steps().get(done);
    if (step.repeatable() && tries + 1 < MOST_TRIES) {
      return new Update(way, done, tries + 1, moving, false, reason);
    }
    String what = "%s failed: %s".formatted(words(step), why);
    boolean pausedMaybe = step == UpdateStep.PAUSE;
    return new Update(way, done, 0, moving, pausedMaybe, what);
  }
}
