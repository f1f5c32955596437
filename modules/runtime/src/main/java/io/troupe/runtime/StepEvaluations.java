package io.troupe.runtime;

import io.troupe.engine.SamplingEngine;
import io.troupe.engine.weights.WeightSnapshot;
import io.troupe.runtime.episode.SampledEpisode;
import io.troupe.telemetry.StepScores;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * The evaluations of a run, each with its own interval.
 *
 * @param all in the order in which a step makes them
 * @param lastStep after which every evaluation is made
 * @param target name of the score that may complete the run, as {@link StepScores} has it
 */
public record StepEvaluations(List<Scheduled> all, long lastStep, String target) {
  /**
   * One evaluation.
   *
   * @param every steps from one to the next; 0 means never
   */
  public record Scheduled(String name, long every, HeldOutEvaluation evaluation) {}

  /** The answers of one evaluation. */
  record Sampled(Scheduled of, List<SampledEpisode> answers) {}

  /**
   * The outcome of a step's evaluations.
   *
   * @param notes samples that could not be judged
   * @param answers of each evaluation by its name
   */
  record Outcome(
      StepScores scores,
      List<String> notes,
      Map<String, List<HeldOutEvaluation.JudgedAnswer>> answers) {
    Outcome {
      notes = List.copyOf(notes);
      answers = Collections.unmodifiableMap(new LinkedHashMap<>(answers));
    }
  }

  public StepEvaluations {
    all = List.copyOf(all);
  }

  /** The run's own evaluation alone, after every step that is evaluated. */
  public static StepEvaluations of(HeldOutEvaluation own) {
    return new StepEvaluations(
        List.of(new Scheduled(StepScores.HELD_OUT, 1, own)), Long.MAX_VALUE, StepScores.HELD_OUT);
  }

  /** The evaluations after a step. */
  List<Scheduled> due(long step) {
    return all.stream()
        .filter(each -> each.every() > 0 && (step % each.every() == 0 || step == lastStep))
        .toList();
  }

  /**
   * Samples the prompts of all evaluations after a step, one evaluation after the other, with
   * exactly these weights.
   *
   * @param contextLength of the policy
   * @param answered called with each prompt that is answered
   */
  CompletionStage<List<Sampled>> answers(
      SamplingEngine engine,
      int contextLength,
      long step,
      WeightSnapshot weights,
      Runnable answered) {
    CompletionStage<List<Sampled>> sampled = engine.load(weights).thenApply(_ -> new ArrayList<>());
    for (Scheduled each : due(step)) {
      sampled =
          sampled.thenCompose(
              before ->
                  each.evaluation()
                      .answers(engine, contextLength, answered)
                      .thenApply(
                          answers -> {
                            before.add(new Sampled(each, answers));
                            return before;
                          }));
    }
    return sampled;
  }

  /** Judges them; it fails if no answer of any evaluation can be judged. */
  CompletionStage<Outcome> grade(List<Sampled> sampled) {
    List<CompletableFuture<HeldOutEvaluation.HeldOutScore>> graded =
        sampled.stream()
            .map(each -> each.of().evaluation().grade(each.answers()).toCompletableFuture())
            .toList();
    return CompletableFuture.allOf(graded.toArray(CompletableFuture[]::new))
        .thenApply(
            _ -> {
              Map<String, Double> scores = new LinkedHashMap<>();
              List<String> notes = new ArrayList<>();
              Map<String, List<HeldOutEvaluation.JudgedAnswer>> answers = new LinkedHashMap<>();
              for (int i = 0; i < sampled.size(); i++) {
                String name = sampled.get(i).of().name();
                HeldOutEvaluation.HeldOutScore score = graded.get(i).join();
                if (score.judged() > 0) {
                  scores.put(name, score.passed());
                  if (score.graded() || StepScores.ofReward(name).equals(target)) {
                    scores.put(StepScores.ofReward(name), score.reward());
                  }
                }
                answers.put(name, score.answers());
                score.notes().forEach(note -> notes.add(name + ": " + note));
              }
              if (scores.isEmpty()) {
                throw new IllegalStateException(String.join("; ", notes));
              }
              return new Outcome(new StepScores(scores), notes, answers);
            });
  }
}
