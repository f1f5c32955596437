package io.troupe.gym.student;

import io.troupe.chat.ChatTemplate;
import io.troupe.chat.ChatTemplate.Message;
import io.troupe.chat.TurnEnd;
import io.troupe.config.policy.PolicySection;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.PolicyEngines;
import io.troupe.engine.Tokenizer;
import io.troupe.engine.djl.DjlPolicy;
import io.troupe.gym.item.TrainingRow;
import io.troupe.run.compose.PolicyOpening;
import io.troupe.serve.model.ServedWeights;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Clock;
import java.time.ZoneId;
import java.util.List;
import java.util.Map;

/**
 * Students that begin with the weights of a checkpoint. The base student is a copy of it, so that a
 * gym does not depend on what becomes of the checkpoint; a training has a process of its own;
 * answers are sampled with the prompts worded as the training words them, before it and after it.
 *
 * <p>Engines are open while answers are sampled only. Not safe for use by several threads, but for
 * {@link #stop}.
 */
public final class CheckpointStudents implements Students {
  /** The folder of an iteration's training, beside the student. */
  static final String TRAINING = "training";

  private final Path checkpoint;
  private final PolicySection.Pretrained policy;
  private final StudentFit settings;
  private final CheckpointTraining training;

  /**
   * Students.
   *
   * @param checkpoint folder that they begin as
   * @param policy compute settings of the students
   */
  public CheckpointStudents(
      Path checkpoint,
      PolicySection.Pretrained policy,
      StudentFit settings,
      CheckpointTraining training) {
    this.checkpoint = checkpoint;
    this.policy = policy;
    this.settings = settings;
    this.training = training;
  }

  @Override
  public Outcome makeBase(long seed, List<TrainingRow> rows, Path folder) throws IOException {
    StudentFolders.copy(checkpoint, folder);
    return new Outcome.Fitted(0, 0);
  }

  @Override
  public Outcome train(
      Path base, List<TrainingRow> rows, List<TrainingRow> replay, long seed, Path folder)
      throws IOException {
    return training.train(
        base.toAbsolutePath(),
        settings.withReplay(rows, replay, seed),
        seed,
        folder.resolveSibling(TRAINING),
        folder);
  }

  @Override
  public List<List<String>> answer(Path student, List<String> prompts, int samples, long seed)
      throws IOException {
    try (PolicyEngines engines =
        DjlPolicy.create(PolicyOpening.opened(student, policy), PolicyOpening.compute(policy))) {
      Tokenizer tokenizer = engines.tokenizer();
      if (!training.chat()) {
        List<String> begun = prompts.stream().map(tokenizer::withTextStart).toList();
        return new StudentSampler(engines, settings.maxTokens(), new TurnEnd.Unmarked())
            .responses(ServedWeights.read(student, WeightVersion.BASE), begun, samples, seed);
      }
      ChatTemplate template = template(student, tokenizer);
      List<String> worded =
          prompts.stream()
              .map(prompt -> template.render(List.of(Message.user(prompt)), true, Map.of()))
              .toList();
      return new StudentSampler(engines, settings.maxTokens(), TurnEnd.of(template, tokenizer))
          .responses(ServedWeights.read(student, WeightVersion.BASE), worded, samples, seed);
    }
  }

  private ChatTemplate template(Path student, Tokenizer tokenizer) throws IOException {
    return PolicyOpening.template(
            student, tokenizer, Clock.system(ZoneId.systemDefault()), training.thinking())
        .orElseThrow(
            () ->
                new IOException(
                    "%s has no chat template, and %s words prompts with template: chat; set it to raw"
                        .formatted(student, training.recipe())));
  }

  @Override
  public void stop() {
    training.stop();
  }

  @Override
  public void close() {}
}
