package io.troupe.run.evaluation;

import io.troupe.engine.SamplingEngine;
import io.troupe.engine.Tokenizer;
import io.troupe.environments.EnvironmentFailedException;
import io.troupe.evaluation.Answer;
import io.troupe.evaluation.AnswerSource;
import io.troupe.evaluation.EngineAnswers;
import io.troupe.evaluation.EvaluationTask;
import io.troupe.evaluation.Question;
import io.troupe.run.compose.UnsupportedPolicyException;
import io.troupe.runtime.episode.EpisodeSettings;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletionStage;

/** One engine that samples the episodes of each task as the task has them. */
final class TaskAnswers implements AnswerSource {
  private static final String STANDARD = "";

  private final SamplingEngine engine;
  private final Tokenizer tokenizer;
  private final int contextLength;
  private final Map<String, AnswerSource> sources = new HashMap<>();

  /**
   * Answers nothing yet.
   *
   * @param engine closed with this
   */
  TaskAnswers(SamplingEngine engine, Tokenizer tokenizer, int contextLength) {
    this.engine = engine;
    this.tokenizer = tokenizer;
    this.contextLength = contextLength;
  }

  /** The engine, to load weights into. */
  SamplingEngine engine() {
    return engine;
  }

  /** Opens the episodes of tasks that have none of their own. */
  void add(EpisodeSettings episodes) throws UnsupportedPolicyException {
    add(STANDARD, episodes);
  }

  /** Opens the episodes of one task. */
  void add(EvaluationTask task, EpisodeSettings episodes) throws UnsupportedPolicyException {
    add(task.name(), episodes);
  }

  private void add(String task, EpisodeSettings episodes) throws UnsupportedPolicyException {
    try {
      sources.put(
          task,
          episodes instanceof EpisodeSettings.SingleTurn
              ? new EngineAnswers(engine, tokenizer)
              : new EngineAnswers(
                  new EpisodeAnswers(engine, tokenizer, contextLength, episodes), tokenizer));
    } catch (EnvironmentFailedException failure) {
      close();
      throw new UnsupportedPolicyException("episode.environment: " + failure.getMessage(), failure);
    }
  }

  @Override
  public AnswerSource forTask(EvaluationTask task) {
    AnswerSource own = sources.get(task.name());
    return own == null ? standard() : own;
  }

  private AnswerSource standard() {
    return Objects.requireNonNull(sources.get(STANDARD));
  }

  @Override
  public List<CompletionStage<List<Answer>>> answer(List<Question> questions) {
    return standard().answer(questions);
  }

  @Override
  public void close() {
    sources.values().forEach(AnswerSource::close);
    engine.close();
  }
}
