package io.troupe.app;

import io.troupe.app.config.PolicySection;
import io.troupe.app.config.RunConfig;
import io.troupe.app.config.TaskFacts;
import io.troupe.app.config.TaskSection;
import io.troupe.core.prompt.Prompt;
import io.troupe.engine.CharacterTokenizer;
import io.troupe.engine.PolicyEngines;
import io.troupe.engine.Tokenizer;
import io.troupe.engine.djl.ComputeSettings;
import io.troupe.engine.djl.DecoderSettings;
import io.troupe.engine.djl.DjlPolicy;
import io.troupe.engine.toy.ToyPolicy;
import io.troupe.engine.toy.ToySettings;
import io.troupe.runtime.RunSettings;
import io.troupe.tasks.ArithmeticTask;
import io.troupe.tasks.Gsm8kTask;
import io.troupe.tasks.Task;
import io.troupe.verifiers.Gsm8kVerifier;
import io.troupe.verifiers.NumericVerifier;
import io.troupe.verifiers.Verifier;
import java.io.IOException;

/**
 * The parts a configuration names: the one place that knows every implementation.
 *
 * @param task prompts and their answers
 * @param verifier of the task's answers
 * @param tokenizer over the task's characters
 * @param facts what a plan needs to know of the task
 */
record Composition(
    RunConfig config, Task task, Verifier verifier, Tokenizer tokenizer, TaskFacts facts) {
  /**
   * Loads the task and chooses the verifier.
   *
   * @throws IOException if the data cannot be read
   * @throws io.troupe.tasks.BadTaskData if it is not what the task needs; names file, line and rule
   */
  static Composition of(RunConfig config) throws IOException {
    long seed = config.run().seed();
    Task task =
        switch (config.task()) {
          case TaskSection.Arithmetic section -> new ArithmeticTask(section.settings(seed));
          case TaskSection.Gsm8k section -> Gsm8kTask.load(section.settings(seed));
        };
    Verifier verifier =
        switch (config.task()) {
          case TaskSection.Arithmetic section ->
              new NumericVerifier(
                  section.settings(seed).padded(), section.settings(seed).reversed());
          case TaskSection.Gsm8k section -> new Gsm8kVerifier(section.verifierMode(), 0);
        };
    Tokenizer tokenizer = new CharacterTokenizer(task.alphabet());
    int longest =
        task.train().stream()
            .map(Prompt::text)
            .mapToInt(text -> tokenizer.encode(text).length)
            .max()
            .orElse(0);
    TaskFacts facts =
        new TaskFacts(
            task.train().size(), task.heldOut().size(), longest, tokenizer.vocabularySize());
    return new Composition(config, task, verifier, tokenizer, facts);
  }

  /** Loads the policy's engine. */
  PolicyEngines engines() {
    return switch (config.policy()) {
      case PolicySection.Djl policy ->
          DjlPolicy.create(
              new DecoderSettings(
                  policy.hidden(),
                  policy.layers(),
                  policy.heads(),
                  policy.kvHeads(),
                  policy.headDim(),
                  policy.feedForward(),
                  policy.contextLength(),
                  policy.ropeTheta(),
                  policy.normEpsilon(),
                  policy.tiedEmbeddings(),
                  policy.initStd()),
              tokenizer,
              ComputeSettings.of(
                  policy.trainerThreads(), policy.samplerThreads(), policy.microBatchTokens()));
      case PolicySection.Toy policy ->
          new ToyPolicy(
              ToySettings.of(task.alphabet(), policy.contextLength())
                  .withTokenDelay(policy.tokenDelay()));
    };
  }

  /** What the loop needs to know. */
  RunSettings settings() {
    return new RunSettings(
        config.run().seed(),
        config.limits(facts),
        config.lossSettings(),
        config.optimisation(config.training().learningRate()),
        config.training().learningRates(),
        config.sampling(),
        new RunSettings.Warmup(
            config.warmup().steps(),
            config.warmup().untilLoss(),
            config.warmup().batch(),
            config.warmup().learningRate(),
            config.warmup().examples()),
        config.rollout().workers(),
        config.rollout().groupsPerRequest(),
        config.evaluation().prompts(),
        config.evaluationSampling().maxTokens(),
        config.checkpoint().keep());
  }
}
