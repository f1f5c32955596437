package io.troupe.run.supervised;

import io.troupe.chat.ChatTemplate;
import io.troupe.config.policy.PolicySection;
import io.troupe.config.supervised.SupervisedConfig;
import io.troupe.engine.CharacterTokenizer;
import io.troupe.engine.PolicyEngines;
import io.troupe.engine.Tokenizer;
import io.troupe.engine.djl.DjlPolicy;
import io.troupe.engine.djl.checkpoint.PretrainedModel;
import io.troupe.engine.djl.model.WeightDecay;
import io.troupe.engine.toy.ToyPolicy;
import io.troupe.engine.toy.ToySettings;
import io.troupe.run.compose.PolicyOpening;
import io.troupe.run.compose.UnsupportedPolicyException;
import io.troupe.run.task.SupervisedData;
import io.troupe.run.task.SupervisedRows;
import io.troupe.runtime.TrainerTasks;
import io.troupe.store.checkpoint.Checkpoints;
import io.troupe.tasks.rows.TaskDataException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * The parts that the configuration of a supervised run names.
 *
 * @param checkpoint that the policy starts from; none or one
 * @param alphabet of the rows, for a policy that starts from random weights
 */
public record SupervisedComposition(
    SupervisedConfig config,
    SupervisedData data,
    Tokenizer tokenizer,
    List<PretrainedModel> checkpoint,
    String alphabet) {
  public SupervisedComposition {
    checkpoint = List.copyOf(checkpoint);
  }

  /**
   * Reads the rows and opens the policy's checkpoint.
   *
   * @throws TaskDataException if rows are bad
   */
  public static SupervisedComposition of(SupervisedConfig config) throws IOException {
    return of(config, Optional.empty());
  }

  /**
   * Puts a run together that has begun: where the checkpoint that it started from is gone, its own
   * newest one has the architecture and the tokenizer.
   *
   * @param checkpoints of the run
   */
  public static SupervisedComposition of(SupervisedConfig config, Path checkpoints)
      throws IOException {
    return of(
        config,
        Checkpoints.view(checkpoints)
            .list()
            .newest()
            .map(newest -> newest.directory().resolve(TrainerTasks.POLICY_FOLDER)));
  }

  private static SupervisedComposition of(SupervisedConfig config, Optional<Path> own)
      throws IOException {
    PolicyOpening.choosePyTorch(config.policy());
    SupervisedRows rows =
        SupervisedRows.read(config.datasets(), config.data(), config.run().seed());
    List<PretrainedModel> checkpoint =
        config.policy() instanceof PolicySection.Pretrained section
            ? List.of(opened(config, section, own))
            : List.of();
    String alphabet = rows.alphabet();
    if (checkpoint.isEmpty() && alphabet.isEmpty()) {
      throw new TaskDataException(
          "datasets: conversations need a chat template, and policy.engine is not pretrained; take"
              + " a checkpoint that has one");
    }
    Tokenizer tokenizer =
        checkpoint.isEmpty() ? new CharacterTokenizer(alphabet) : checkpoint.getFirst().tokenizer();
    SupervisedData data =
        SupervisedData.of(
            rows,
            template(config, checkpoint),
            tokenizer,
            config.data(),
            config.policy().contextLength());
    return new SupervisedComposition(config, data, tokenizer, checkpoint, alphabet);
  }

  private static PretrainedModel opened(
      SupervisedConfig config, PolicySection.Pretrained section, Optional<Path> own)
      throws UnsupportedPolicyException {
    try {
      Path first = PolicyOpening.fetched(config.data(), section);
      if (own.isEmpty() || Files.isDirectory(first)) {
        return PolicyOpening.opened(first, section);
      }
    } catch (UnsupportedPolicyException nowhere) {
      if (own.isEmpty()) {
        throw nowhere;
      }
    }
    return PolicyOpening.opened(own.orElseThrow(), section);
  }

  private static ChatTemplate template(SupervisedConfig config, List<PretrainedModel> checkpoint)
      throws IOException {
    Optional<ChatTemplate> own =
        checkpoint.isEmpty()
            ? Optional.empty()
            : PolicyOpening.template(
                checkpoint.getFirst().directory(),
                checkpoint.getFirst().tokenizer(),
                config.run().clock(),
                config.policy().thinking());
    return own.orElse(
        (_, _, _) -> {
          throw new IllegalArgumentException(
              "it is a conversation, and the policy has no chat template; take rows of prompt and"
                  + " completion with template: raw, or a checkpoint that has a template");
        });
  }

  /**
   * Loads the policy's engine.
   *
   * @throws UnsupportedPolicyException if the device is not there
   */
  public PolicyEngines engines() throws UnsupportedPolicyException {
    WeightDecay decay = new WeightDecay(config.training().optimizer().noDecay());
    return switch (config.policy()) {
      case PolicySection.Djl policy ->
          DjlPolicy.create(policy.decoder(), tokenizer, PolicyOpening.compute(policy))
              .trained(policy.compute().trainingMode().with(decay));
      case PolicySection.Pretrained policy ->
          DjlPolicy.create(checkpoint.getFirst(), PolicyOpening.compute(policy))
              .trained(policy.compute().trainingMode().with(decay));
      case PolicySection.Toy policy ->
          new ToyPolicy(
              ToySettings.of(alphabet, policy.contextLength()).withTokenDelay(policy.tokenDelay()));
    };
  }
}
