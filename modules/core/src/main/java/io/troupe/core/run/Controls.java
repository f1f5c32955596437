package io.troupe.core.run;

/**
 * The operators' settings: they outlive the process, but for a checkpoint that was asked for.
 *
 * @param paused whether nothing is admitted and no lease granted
 * @param checkpointAsked whether a checkpoint is to be saved once the running step ends
 * @param concurrency most groups under lease; 0 leaves it to the run's setting
 */
public record Controls(boolean paused, boolean checkpointAsked, int concurrency) {
  /** No operator has set anything. */
  public static final Controls NONE = new Controls(false, false, 0);

  /** After an operator's order was taken. */
  public Controls after(OperatorCommand verb, boolean stepRuns) {
    return switch (verb) {
      case OperatorCommand.PauseAdmission _ -> paused(true);
      case OperatorCommand.ResumeAdmission _ -> paused(false);
      case OperatorCommand.LimitConcurrency(int most) -> concurrency(most);
      // A step that runs has taken its groups already, so the checkpoint waits for its end.
      case OperatorCommand.SaveCheckpoint _ -> checkpointAsked(stepRuns);
      case OperatorCommand.RequeueGroup _,
          OperatorCommand.CancelGroup _,
          OperatorCommand.Drain _,
          OperatorCommand.RestartWorker _,
          OperatorCommand.DrainWorker _,
          OperatorCommand.ForShell _ ->
          this;
    };
  }

  /** The controls of a new process that continues the run, under its own settings. */
  Controls resumed(RunLimits limits) {
    return new Controls(paused, false, Math.min(concurrency, limits.groups().maxConcurrent()));
  }

  Controls paused(boolean next) {
    return new Controls(next, checkpointAsked, concurrency);
  }

  /** Returns these controls with or without a checkpoint to save. */
  public Controls checkpointAsked(boolean next) {
    return new Controls(paused, next, concurrency);
  }

  Controls concurrency(int next) {
    return new Controls(paused, checkpointAsked, next);
  }
}
