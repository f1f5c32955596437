package io.troupe.app;

import io.troupe.app.config.RunConfig;
import io.troupe.engine.PolicyEngines;
import io.troupe.engine.SamplingEngine;
import io.troupe.engine.ScoringEngine;
import io.troupe.engine.Tokenizer;
import io.troupe.engine.TrainingEngine;
import io.troupe.engine.http.EndpointException;
import io.troupe.engine.http.HttpTeacher;
import java.io.IOException;
import java.util.function.Consumer;

/**
 * A policy's engines, whose trainers are taught by servers.
 *
 * @param own the policy's
 * @param teacher closed with them
 */
record TaughtEngines(PolicyEngines own, HttpTeacher teacher) implements PolicyEngines {
  /** Sequences that each server is asked about at a time. */
  private static final int AT_A_TIME = 8;

  /**
   * The engines with the servers that a configuration names as teacher; the same if it names none.
   *
   * @param say tells the user who teaches
   * @throws IOException if a server cannot teach; says why
   */
  static PolicyEngines of(RunConfig config, PolicyEngines own, Consumer<String> say)
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
      return new TaughtEngines(own, teacher);
    } catch (EndpointException unfit) {
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
    return own.tokenizer();
  }

  @Override
  public int contextLength() {
    return own.contextLength();
  }

  @Override
  public String describe() {
    return own.describe();
  }

  @Override
  public String device() {
    return own.device();
  }

  @Override
  public TrainingEngine newTrainer(long seed) {
    return new TaughtTrainer(own.newTrainer(seed), teacher, AT_A_TIME * teacher.servers());
  }

  @Override
  public SamplingEngine newSampler() {
    return own.newSampler();
  }

  @Override
  public SamplingEngine newSideSampler() {
    return own.newSideSampler();
  }

  @Override
  public ScoringEngine newScorer() {
    return own.newScorer();
  }

  @Override
  public void close() {
    teacher.close();
    own.close();
  }
}
