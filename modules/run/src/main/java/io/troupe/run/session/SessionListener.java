package io.troupe.run.session;

import io.troupe.core.reward.Verdict;
import io.troupe.core.run.Event;
import io.troupe.core.run.RunEnd;
import io.troupe.core.run.RunState;
import io.troupe.core.trace.LineBacklog;
import io.troupe.runtime.RunListener;
import io.troupe.runtime.TrainerTasks;
import io.troupe.telemetry.StepRow;
import io.troupe.telemetry.view.InfrastructureTroubles;
import io.troupe.telemetry.view.RunFold;
import io.troupe.telemetry.view.UnreachedMark;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** Shows a run's events on the screen and in the console, and passes them to the run's files. */
final class SessionListener implements RunListener {
  private final RunOutput screen;
  private final Optional<RunFold> fold;
  private final Optional<GreedyProof> proof;
  private final SessionFiles files;
  private final Optional<UnreachedMark> unreached;
  private final CompletableFuture<TrainSession.Outcome> ended;
  private final InfrastructureTroubles troubles = new InfrastructureTroubles();

  /** The troubles of traces, which come from another thread than events. */
  private final InfrastructureTroubles traceTroubles = new InfrastructureTroubles();

  /**
   * Creates a listener.
   *
   * @param fold the console's view of the run, if there is a console
   * @param proof the answer to one prompt by each new version, if there is room for it
   * @param unreached looks at rollouts, where no evaluation shows what passes
   * @param ended completes at the run's end
   */
  SessionListener(
      RunOutput screen,
      Optional<RunFold> fold,
      Optional<GreedyProof> proof,
      SessionFiles files,
      Optional<UnreachedMark> unreached,
      CompletableFuture<TrainSession.Outcome> ended) {
    this.screen = screen;
    this.fold = fold;
    this.proof = proof;
    this.files = files;
    this.unreached = unreached;
    this.ended = ended;
  }

  @Override
  public void warmup(TrainerTasks.WarmupProgress progress) {
    screen.warmup(progress);
  }

  @Override
  public void row(StepRow row) {
    screen.row(row);
    fold.ifPresent(view -> view.row(row.toMap()));
    if (row.eval().isPresent() || !row.evaluations().isEmpty()) {
      files.hooks().evaluation(row.step());
    }
  }

  @Override
  public void happened(long atMillis, Event event) {
    fold.ifPresent(view -> view.event(atMillis, event));
    screen.happened(atMillis, event);
    troubles.event(atMillis, event).ifPresent(screen::note);
    unreached.flatMap(mark -> mark.event(event)).ifPresent(screen::note);
    proof.ifPresent(line -> line.happened(event));
    if (event instanceof Event.CheckpointSaved(long step)) {
      files.archiver().checkpointed();
      files.copy().checkpointed();
      files.hooks().checkpoint(step);
    }
  }

  @Override
  public void judged(List<Verdict> verdicts) {
    screen.judged(verdicts);
  }

  @Override
  public void note(String sentence) {
    screen.note(sentence);
  }

  @Override
  public void traces(LineBacklog backlog) {
    long at = System.currentTimeMillis();
    fold.ifPresent(view -> view.traces(at, backlog));
    traceTroubles.traces(at, backlog).ifPresent(screen::note);
  }

  @Override
  public void ended(RunEnd end, RunState state) {
    screen.ended(end, state);
    ended.complete(new TrainSession.Outcome(end, state));
  }
}
