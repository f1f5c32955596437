package io.troupe.engine.http.replica;

import io.troupe.engine.http.probe.UpdateMethod;
import io.troupe.engine.http.probe.UpdateStep;
import java.util.Locale;

/**
 * One update of one server, step by step.
 *
 * <p>Invariants: the new weights are announced only after every step of the way has succeeded; the
 * moving (the reading, or the restart) is begun at most once; a server whose moving was begun and
 * whose update did not succeed is never used again as it is; and whatever was paused is resumed, or
 * the server is given up. One that does not answer while it has nothing else to do is given up at
 * once; where it may have been paused by then, it is told to go on first, because a server of
 * others is not started anew, and may take up later what it was asked.
 *
 * @param way the steps
 * @param done how many of them are
 * @param attempts of the present step that failed
 * @param moving whether the reading or the restart was begun, or the server hangs
 * @param retreat whether the update is given up, and only the resuming is left
 * @param ours whether what ended it failed in this process, and says nothing of the server
 * @param reason of the first failure that ended it, or empty
 */
public record WeightUpdate(
    UpdateMethod way,
    int done,
    int attempts,
    boolean moving,
    boolean retreat,
    boolean ours,
    String reason) {
  private static final int MOST_TRIES = 3;

  /** What is to be done next. */
  public sealed interface Next {
    /** This step. */
    record Do(UpdateStep step) implements Next {}

    /** Nothing: the new weights are in use. */
    record Updated() implements Next {}

    /** Nothing: the old weights are in use, and intact. */
    record NotUpdated(String reason) implements Next {}

    /** The same, through no fault of the server. */
    record Unable(String reason) implements Next {}

    /** The server must not be used before it got whole weights, or was started anew. */
    record Broken(String reason) implements Next {}
  }

  /** An update that is about to begin. */
  public static WeightUpdate begin(UpdateMethod way) {
    return new WeightUpdate(way, 0, 0, false, false, false, "");
  }

  /** Only the last step of a way, a try: the server has the weights already. */
  static WeightUpdate lastOf(UpdateMethod way) {
    return new WeightUpdate(way, way.steps().size() - 1, 0, true, false, false, "");
  }

  public Next next() {
    if (retreat) {
      return attempts < MOST_TRIES
          ? new Next.Do(UpdateStep.RESUME)
          : new Next.Broken(reason + "; then it could not be resumed");
    }
    if (!reason.isEmpty()) {
      if (moving) {
        return new Next.Broken(reason);
      }
      return ours ? new Next.Unable(reason) : new Next.NotUpdated(reason);
    }
    return done == way.steps().size() ? new Next.Updated() : new Next.Do(way.steps().get(done));
  }

  /** A step is about to be sent; from then on nobody knows how far it got. */
  public WeightUpdate started(UpdateStep step) {
    return step.changesWeights()
        ? new WeightUpdate(way, done, attempts, true, retreat, ours, reason)
        : this;
  }

  /** The step succeeded. */
  public WeightUpdate succeeded() {
    return retreat
        ? new WeightUpdate(way, done, 0, moving, false, ours, reason)
        : new WeightUpdate(way, done + 1, 0, moving, false, ours, reason);
  }

  /**
   * The server took a step, had nothing else to do, and did not answer: it hangs, and is to be
   * started anew. A first loading may only take long.
   */
  public WeightUpdate hung(UpdateStep step) {
    if (retreat || (step == UpdateStep.LOAD && attempts == 0)) {
      return unanswered("no answer in time");
    }
    boolean pausedMaybe = step == UpdateStep.PAUSE || step == UpdateStep.RESUME;
    return new WeightUpdate(way, done, 0, true, pausedMaybe, false, words(step) + " hangs");
  }

  private static String words(UpdateStep step) {
    return step.name().toLowerCase(Locale.ROOT);
  }

  /** The server said that the step failed. */
  public WeightUpdate failed(String why) {
    return failed(why, retreat || way.steps().get(done).repeatable());
  }

  /** Nobody knows what the server would have said: the call broke. */
  public WeightUpdate unanswered(String why) {
    return failed(why, retreat || !way.steps().get(done).changesWeights());
  }

  private WeightUpdate failed(String why, boolean again) {
    if (retreat) {
      return new WeightUpdate(way, done, attempts + 1, moving, true, ours, reason);
    }
    UpdateStep step = way.steps().get(done);
    if (again && attempts + 1 < MOST_TRIES) {
      return new WeightUpdate(way, done, attempts + 1, moving, false, ours, reason);
    }
    String what = "%s failed: %s".formatted(words(step), why);
    boolean pausedMaybe = step == UpdateStep.PAUSE;
    return new WeightUpdate(way, done, 0, moving, pausedMaybe, false, what);
  }

  /** This process cannot do its part of a step, which paused nothing. */
  public WeightUpdate unable(String why) {
    return new WeightUpdate(way, done, 0, moving, false, true, why);
  }
}
