package io.troupe.store.journal;

import io.troupe.core.run.Controls;
import io.troupe.core.run.Event;
import io.troupe.core.run.OperatorCommand;
import io.troupe.core.run.RunState;
import io.troupe.store.state.RunJson;
import io.troupe.store.state.StateSnapshot;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;

/**
 * The part of a journal beyond a checkpoint, as far as a process needs it that continues from
 * there.
 *
 * @param lastFence greatest fencing number ever granted
 * @param lastStep step of the newest weights there have been
 * @param over whether the journal ends with the end of the run
 * @param controls last settings of the operators
 * @param records read for it
 */
public record JournalSuffix(
    long lastFence, long lastStep, boolean over, Controls controls, long records) {
  /**
   * Reads what came since a checkpoint and nothing before it: its state holds what that came to.
   *
   * @param journal a run's {@code journal/}
   * @throws io.troupe.store.file.JournalException.Elsewhere if the checkpoint is not of this
   *     journal
   */
  public static JournalSuffix since(Path journal, StateSnapshot checkpoint) throws IOException {
    try (RunJournal reader = RunJournal.openAfter(journal, checkpoint.journal())) {
      return read(reader, checkpoint.state());
    }
  }

  /** Reads all of a journal: there is no checkpoint yet. */
  public static JournalSuffix whole(Path journal) throws IOException {
    try (RunJournal reader = RunJournal.open(journal)) {
      return read(reader, reader.base().map(StateSnapshot::state).orElse(RunState.INITIAL));
    }
  }

  private static JournalSuffix read(RunJournal journal, RunState from) throws IOException {
    long fence = from.lastFence();
    long step = from.version().number();
    boolean over = false;
    Controls controls = from.controls();
    long first = journal.records();
    for (Optional<RunJson.Entry> next = journal.next(); next.isPresent(); next = journal.next()) {
      for (Event event : next.get().events()) {
        over = event instanceof Event.RunEnded || (over && !(event instanceof Event.RunResumed));
        if (event instanceof Event.LeaseGranted(var lease, var _, var _, var _)) {
          fence = Math.max(fence, lease.fence());
        } else if (event instanceof Event.StepTrained(long trained, var _)) {
          step = trained;
        } else if (event instanceof Event.OrderTaken(OperatorCommand verb, var _)) {
          controls = controls.after(verb, false);
        } else if (event instanceof Event.RunResumed(RunState state)) {
          step = state.version().number();
          fence = Math.max(fence, state.lastFence());
        }
      }
    }
    return new JournalSuffix(fence, step, over, controls, journal.records() - first);
  }
}
