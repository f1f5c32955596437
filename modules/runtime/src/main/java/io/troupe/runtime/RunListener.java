package io.troupe.runtime;

import io.troupe.core.reward.Verdict;
import io.troupe.core.run.Event;
import io.troupe.core.run.RunEnd;
import io.troupe.core.run.RunState;
import io.troupe.core.trace.LineBacklog;
import io.troupe.telemetry.StepRow;
import java.util.List;

/** Gets the progress of a run. Calls come in order and must return quickly. */
public interface RunListener {
  /** The supervised warm-up has made steps. */
  void warmup(TrainerTasks.WarmupProgress progress);

  /** A step is finished; rows come in the order of steps, from step 0. */
  void row(StepRow row);

  /** Hears an event that an operator acts on, in one sentence. */
  void note(String sentence);

  /**
   * Hears an event. Unlike the others this comes from the coordinator, as soon as it is decided and
   * before it is journalled.
   *
   * @param atMillis since 1970, UTC
   */
  default void happened(long atMillis, Event event) {}

  /** The completions of a group were judged. */
  default void judged(List<Verdict> verdicts) {}

  /** A line of the traces was refused, or lines are taken again. */
  default void traces(LineBacklog backlog) {}

  /** The run is over. Comes once, last. */
  void ended(RunEnd end, RunState state);
}
