package io.troupe.engine.djl.checkpoint;

import static io.troupe.core.Require.require;

import io.troupe.engine.Tokenizer;
import io.troupe.engine.djl.model.DecoderLayout;
import io.troupe.engine.djl.model.DecoderSettings;
import io.troupe.engine.djl.model.FlatLayout;
import io.troupe.engine.djl.model.ModelWeights;
import io.troupe.engine.djl.torch.Device;
import io.troupe.engine.safetensors.ModelFiles;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * The checkpoint of a policy's teacher: a Hugging Face folder, or a checkpoint of a run. Its
 * architecture and tensors were checked, and its weights were not read yet. The teacher may have
 * another size and family than the policy; its tokens must be the policy's.
 *
 * @param settings of its decoder
 * @param vocabulary rows of its embedding
 */
public record TeacherCheckpoint(Path directory, DecoderSettings settings, int vocabulary) {
  private static final String CONFIG = "config.json";

  /** The folder of the policy in a run's checkpoint. */
  private static final String POLICY = "policy";

  /**
   * Opens and checks a checkpoint.
   *
   * @param folder with config.json, or a run's checkpoint, which has that in {@code policy}
   * @throws IOException if a file is missing, is damaged, or describes an unsupported model; the
   *     message names file, tensor or key, and rule
   */
  public static TeacherCheckpoint open(Path folder) throws IOException {
    if (!Files.isDirectory(folder)) {
      throw new IOException("the teacher %s is no directory".formatted(folder));
    }
    Path inner = folder.resolve(POLICY);
    boolean nested = !Files.exists(folder.resolve(CONFIG)) && Files.exists(inner.resolve(CONFIG));
    Path directory = nested ? inner : folder;
    ModelConfig config = ModelConfig.read(directory.resolve(CONFIG));
    try (Arena arena = Arena.ofConfined()) {
      stored(directory, DecoderLayout.of(config.settings(), config.vocabulary()), arena);
    }
    return new TeacherCheckpoint(directory, config.settings(), config.vocabulary());
  }

  /** Returns the number of weights. */
  public long parameters() {
    return DecoderLayout.of(settings, vocabulary).size();
  }

  /**
   * Checks that the checkpoint can teach a policy with random first weights.
   *
   * @throws IllegalArgumentException if it cannot; the message says what differs
   */
  public void requireFit(DecoderSettings policy, Tokenizer tokenizer) {
    requireFit(ModelDescription.of(policy, tokenizer), policy.contextLength());
  }

  /**
   * Checks that the checkpoint can teach a policy that starts from another checkpoint.
   *
   * @throws IllegalArgumentException if it cannot; the message says what differs
   */
  public void requireFit(PretrainedModel policy) {
    requireFit(policy.card(), policy.settings().contextLength());
  }

  public void requireFit(ModelDescription policy, int contextLength) {
    require(
        settings.contextLength() >= contextLength,
        "the teacher %s reads %d tokens, and the policy's context_length is %d; lower that, or"
            + " take another teacher",
        directory,
        settings.contextLength(),
        contextLength);
    require(
        vocabulary == policy.config().vocabulary(),
        "the teacher %s has a vocabulary of %d, and the policy one of %d; a teacher speaks of the"
            + " policy's tokens, so take one of the same family",
        directory,
        vocabulary,
        policy.config().vocabulary());
    policy.requireSameTokens(directory);
  }

  /** Reads the weights, converted to float32. */
  public ModelWeights weights(FlatLayout layout, Device device) throws IOException {
    try (Arena arena = Arena.ofConfined()) {
      CheckpointTensors stored = stored(directory, layout.tensors(), arena);
      ModelWeights weights = ModelWeights.zeros(layout, device);
      stored.copy("", weights);
      return weights;
    }
  }

  private static CheckpointTensors stored(Path directory, DecoderLayout layout, Arena arena)
      throws IOException {
    ModelFiles files = ModelFiles.map(directory, arena);
    CheckpointTensors stored = new CheckpointTensors(files.source(), files.tensors());
    stored.check(layout, CheckpointTensors.Authority.CONFIGURATION, List.of(""));
    return stored;
  }
}
