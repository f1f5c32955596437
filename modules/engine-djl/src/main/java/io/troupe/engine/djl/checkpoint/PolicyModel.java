package io.troupe.engine.djl.checkpoint;

import io.troupe.engine.Tokenizer;
import io.troupe.engine.djl.model.DecoderSettings;
import io.troupe.engine.djl.model.FlatLayout;
import io.troupe.engine.djl.model.ModelWeights;
import io.troupe.engine.djl.torch.Device;
import java.io.IOException;
import java.io.UncheckedIOException;

/**
 * The policy that trainer and samplers compute.
 *
 * @param card description of the policy in its checkpoints
 * @param start source of the first weights
 */
public record PolicyModel(
    DecoderSettings settings, Tokenizer tokenizer, ModelDescription card, Start start) {
  /** The source of the first weights. */
  sealed interface Start {
    /** Random numbers: {@link io.troupe.engine.djl.model.WeightInit}. */
    record Random() implements Start {}

    /** The files of a checkpoint. */
    record Stored(PretrainedModel checkpoint) implements Start {}
  }

  public static PolicyModel random(DecoderSettings settings, Tokenizer tokenizer) {
    return new PolicyModel(
        settings, tokenizer, ModelDescription.of(settings, tokenizer), new Start.Random());
  }

  public static PolicyModel of(PretrainedModel checkpoint) {
    return new PolicyModel(
        checkpoint.settings(),
        checkpoint.tokenizer(),
        checkpoint.card(),
        new Start.Stored(checkpoint));
  }

  /** Returns the first weights; {@code seed} is that of random weights. */
  public ModelWeights weights(FlatLayout layout, Device device, long seed) {
    return switch (start) {
      case Start.Random() -> ModelWeights.random(layout, device, seed, settings.initStd());
      case Start.Stored(PretrainedModel checkpoint) -> {
        try {
          yield checkpoint.weights(layout, device);
        } catch (IOException failure) {
          throw new UncheckedIOException(failure);
        }
      }
    };
  }
}
