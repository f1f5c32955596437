package io.troupe.console.source;

import io.troupe.console.chat.Chat;
import io.troupe.console.process.JvmInspector;
import io.troupe.core.run.Attribution;
import io.troupe.core.run.OperatorCommand;
import io.troupe.telemetry.view.RunFold;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletionStage;

/** A run as the console reaches it: live, or the folder of one. */
public interface RunSource {
  /** Returns the records of the run. */
  RunRecords records();

  /** Returns the run as its events report it. */
  default RunFold fold() {
    return records().fold();
  }

  /** The texts of its groups. */
  default RolloutTexts texts() {
    return records().texts();
  }

  /** Returns the loss's treatment of the run's tokens. */
  default TrainedTokens trainedTokens() {
    return records().trainedTokens();
  }

  /** The configuration, versions and seeds it runs with. */
  Map<String, Object> provenance();

  /** Returns the explanations of the run's steps. */
  default StepExplanations explanations() {
    return StepExplanations.NONE;
  }

  /** Returns the prediction of the run's speed. */
  default RunPrediction prediction() {
    return RunPrediction.NONE;
  }

  /** Returns the processes of the run. */
  JvmInspector jvms();

  /** The nodes of the cluster that this process is the coordinator of; none otherwise. */
  default List<NodeFacts> nodes() {
    return List.of();
  }

  /** See {@link ClusterFacts#certificateDays}. */
  default OptionalLong certificateDays() {
    return OptionalLong.empty();
  }

  /** Returns the newest policy, to be tried out. */
  default Chat chat() {
    return Chat.closed(
        "this is the folder of a run, and no policy is loaded here; troupe serve RUN answers with"
            + " its newest checkpoint");
  }

  /** Whether the run is in this process and takes orders. */
  boolean live();

  /**
   * Asks the run for something.
   *
   * @return empty when it was taken; otherwise why not
   */
  CompletionStage<Optional<String>> order(OperatorCommand verb, Attribution order);
}
