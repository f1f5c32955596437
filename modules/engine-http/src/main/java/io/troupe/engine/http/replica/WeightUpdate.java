package io.troupe.engine.http.replica;

import io.troupe.engine.http.probe.UpdateMethod;
import io.troupe.engine.http.probe.UpdateStep;
import java.util.Locale;

/**
 * One update of one server, step by step.
 *
 * <p>Invariants:
 *
 * <ul>
 *   <li>The new weights are announced only after every step has succeeded.
 *   <li>The change of weights (the reading, or the restart) begins at most once.
 *   <li>A server whose change of weights began without a successful update is not used as it is.
 *   <li>A paused server is resumed, or given up.
 * </ul>
 *
 * <p>A server that does not answer while it has nothing else to do is given up at once. If it may
 * be paused by then, it is resumed first: no run restarts a named server, and it may carry out the
 * pause later.
 *
 * @param way the steps
 * @param done number of steps that have succeeded
 * @param attempts failed attempts of the present step
 * @param moving whether the reading or the restart began, or the server hangs
 * @param retreat whether the update is given up, and only the resumption is left
 * @param ours whether the failure was in this process, and says nothing of the server
 * @param reason the first failure that ended the update, or empty
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

  /** The next action, or the outcome. */
  public sealed interface Next {
    /** The caller is to take this step. */
    record Do(UpdateStep step) implements Next {}

    /** The new weights are in use. */
    record Updated() implements Next {}

    /** The old weights are in use, and intact. */
    record NotUpdated(String reason) implements Next {}

    /** The old weights are in use, through no fault of the server. */
    record Unable(String reason) implements Next {}

    /** The server must not be used before it has whole weights, or was restarted. */
    record Broken(String reason) implements Next {}
  }

  /** An update before its first step. */
  public static WeightUpdate begin(UpdateMethod way) {
    return new WeightUpdate(way, 0, 0, false, false, false, "");
  }

  /** Only the steps from the trial sample on, for a server that has the weights already. */
  static WeightUpdate trialOf(UpdateMethod way) {
    return new WeightUpdate(way, way.steps().indexOf(UpdateStep.TRY), 0, true, false, false, "");
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

  /** Whether the server began to take weights and failed, so that it may have none. */
  boolean failedToRead() {
    return !reason.isEmpty()
        && !retreat
        && done < way.steps().size()
        && way.steps().get(done).loadsWeights();
  }

  /** Notes that a step is about to be sent. From then on its progress is unknown. */
  public WeightUpdate started(UpdateStep step) {
    return step.changesWeights()
        ? new WeightUpdate(way, done, attempts, true, retreat, ours, reason)
        : this;
  }

  /** Notes that the step succeeded. */
  public WeightUpdate succeeded() {
    return retreat
        ? new WeightUpdate(way, done, 0, moving, false, ours, reason)
        : new WeightUpdate(way, done + 1, 0, moving, false, ours, reason);
  }

  /**
   * Notes that the server hangs: it did not answer a step while it had nothing else to do, and
   * needs a restart. Only the first loading may take long.
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

  /** Notes that the server reported a failure of the step. */
  public WeightUpdate failed(String why) {
    return failed(why, retreat || way.steps().get(done).repeatable());
  }

  /** Notes that the call broke, so that the outcome of the step is unknown. */
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

  /** Notes that this process cannot do its part of a step, which paused nothing. */
  public WeightUpdate unable(String why) {
    return new WeightUpdate(way, done, 0, moving, false, true, why);
  }
}
