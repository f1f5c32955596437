package io.troupe.run.evaluation;

import io.troupe.config.RunConfig;
import io.troupe.config.evaluation.EvaluationFile;
import io.troupe.config.evaluation.NamedEvaluation;
import io.troupe.core.prompt.Prompt;
import io.troupe.core.prompt.PromptId;
import io.troupe.engine.SamplingSettings;
import io.troupe.evaluation.EvaluationItem;
import io.troupe.evaluation.EvaluationTask;
import io.troupe.run.compose.Composition;
import io.troupe.runtime.HeldOutEvaluation;
import io.troupe.runtime.StepEvaluations;
import io.troupe.verifiers.pool.VerifierService;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/** The evaluations under {@code evaluations} in a run's configuration, loaded. */
public final class NamedEvaluations implements AutoCloseable {
  private final Composition composition;
  private final EvaluationTasks tasks;

  private NamedEvaluations(Composition composition, EvaluationTasks tasks) {
    this.composition = composition;
    this.tasks = tasks;
  }

  /**
   * Loads their prompts.
   *
   * @param contextLength of the policy
   * @throws IOException if data cannot be read
   * @throws io.troupe.tasks.rows.TaskDataException if they are missing or bad, or the policy cannot
   *     read a prompt; names the evaluation
   */
  public static NamedEvaluations load(Composition composition, int contextLength)
      throws IOException {
    RunConfig config = composition.config();
    EvaluationFile file =
        EvaluationFile.ofRun(
            config.run().seed(), config.evaluations(), config.data(), config.verifier());
    return new NamedEvaluations(
        composition,
        new EvaluationTasks(
            EvaluatedPolicy.inTraining(composition),
            file,
            Optional.of(composition.tokenizer()),
            contextLength));
  }

  /**
   * The evaluations with their intervals, their verifiers opened.
   *
   * @param ofRun judges the run's held-out rows
   */
  public List<StepEvaluations.Scheduled> scheduled(VerifierService ofRun) throws IOException {
    List<StepEvaluations.Scheduled> all = new ArrayList<>();
    for (int i = 0; i < tasks.tasks().size(); i++) {
      NamedEvaluation named = composition.config().evaluations().get(i);
      EvaluationTask task = tasks.tasks().get(i);
      VerifierService verifier = named.keys().datasets().isEmpty() ? ofRun : tasks.verifiers(task);
      Map<PromptId, SamplingSettings> settings = new HashMap<>();
      task.items().forEach(item -> settings.put(item.prompt().id(), item.sampling()));
      List<Prompt> prompts = task.items().stream().map(EvaluationItem::prompt).toList();
      all.add(
          new StepEvaluations.Scheduled(
              named.name(),
              named.every(),
              new HeldOutEvaluation(
                  prompts,
                  composition.tokenizer(),
                  verifier,
                  prompt -> Objects.requireNonNull(settings.get(prompt.id())),
                  composition.evaluationSampling().episodes(),
                  task.samples(),
                  composition.config().run().seed())));
    }
    return all;
  }

  @Override
  public void close() {
    tasks.close();
  }
}
