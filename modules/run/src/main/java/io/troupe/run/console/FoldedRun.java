package io.troupe.run.console;

import io.troupe.console.source.RunPrediction;
import io.troupe.console.source.RunRecords;
import io.troupe.console.source.RunSource;
import io.troupe.console.source.StepExplanations;
import io.troupe.store.folder.RunFolder;
import io.troupe.telemetry.view.RunFold;
import java.nio.file.Path;
import java.util.Map;

/** The console's view of a run from its events and its folder, live or recorded. */
abstract sealed class FoldedRun implements RunSource permits FolderRun, LiveRun {
  private final RunFolder folder;
  private final RunRecords records;
  private final StepExplanations explanations;
  private final RunPrediction prediction;
  private final boolean live;

  /**
   * A run as it is recorded.
   *
   * @param live whether it is the run of this process
   * @param model file of the model that predicts the run
   */
  FoldedRun(RunFold fold, RunFolder folder, boolean live, Path model) {
    this.folder = folder;
    this.records = RunRecords.of(fold, folder.traces());
    this.explanations = new JournalledSteps(folder);
    this.prediction = new FolderPrediction(folder, fold, live, model);
    this.live = live;
  }

  @Override
  public final RunRecords records() {
    return records;
  }

  @Override
  public final Map<String, Object> provenance() {
    return ProvenanceFile.of(folder);
  }

  @Override
  public final StepExplanations explanations() {
    return explanations;
  }

  @Override
  public final RunPrediction prediction() {
    return prediction;
  }

  @Override
  public final boolean live() {
    return live;
  }
}
