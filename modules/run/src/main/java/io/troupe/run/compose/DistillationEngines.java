package io.troupe.run.compose;

import io.troupe.config.RunConfig;
import io.troupe.engine.GroupReplay;
import io.troupe.engine.PolicyEngines;
import io.troupe.engine.SamplingEngine;
import io.troupe.engine.ScoringEngine;
import io.troupe.engine.Tokenizer;
import io.troupe.engine.http.client.InferenceCallException;
import io.troupe.engine.http.score.HttpTeacher;
import io.troupe.engine.train.TrainingEngine;
import java.io.IOException;
import java.util.SortedMap;
import java.util.function.Consumer;

/**
 * A policy's engines, whose trainers are taught by servers.
 *
 * @param delegate the policy's
 * @param teacher closed with them
 */
public record DistillationEngines(PolicyEngines delegate, HttpTeacher teacher)
    implements PolicyEngines {
  /** Sequences that each server is asked about at a time. */
  private static final int CONCURRENCY = 8;

  /**
   * The engines with the servers that a configuration names as teacher; the same if it names none.
   *
   * @param say shows the user who teaches
   * @throws IOException if a server cannot teach; says why
   */
  public static PolicyEngines of(RunConfig config, PolicyEngines own, Consumer<String> say)
      throws IOException, InterruptedException {
    if (!config.distillation().hasTeacherServers()) {
      return own;
    }
    boolean taught = false;
    try {
      HttpTeacher teacher =
          HttpTeacher.open(
              config.distillation().teacherEndpoints(),
              own.tokenizer(),
              own.contextLength(),
              config.distillation().topK(),
              config.distillation().teacherPatience());
      taught = true;
      config.distillation().teacherUrls().forEach(url -> say.accept("teacher " + url));
      return new DistillationEngines(own, teacher);
    } catch (InferenceCallException unfit) {
      throw new IOException(
          "distillation.teacher_urls: %s; look at it with: troupe doctor --endpoint URL"
              .formatted(unfit.getMessage()),
          unfit);
    } finally {
      if (!taught) {
        own.close();
      }
    }
  }

  @Override
  public Tokenizer tokenizer() {
    return delegate.tokenizer();
  }

  @Override
  public int contextLength() {
    return delegate.contextLength();
  }

  @Override
  public String describe() {
    return delegate.describe();
  }

  @Override
  public String device() {
    return delegate.device();
  }

  @Override
  public TrainingEngine newTrainer(long seed) {
    return new DistillationTrainer(
        delegate.newTrainer(seed), teacher, CONCURRENCY * teacher.servers());
  }

  @Override
  public SamplingEngine newSampler() {
    return delegate.newSampler();
  }

  @Override
  public SamplingEngine newSideSampler() {
    return delegate.newSideSampler();
  }

  @Override
  public ScoringEngine newScorer() {
    return delegate.newScorer();
  }

  @Override
  public GroupReplay newGroupReplay() {
    return delegate.newGroupReplay();
  }

  @Override
  public SortedMap<String, String> facts() {
    return delegate.facts();
  }

  @Override
  public void close() {
    teacher.close();
    delegate.close();
  }
}
