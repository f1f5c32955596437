package io.troupe.engine.djl;

import io.troupe.engine.Tokenizer;
import java.io.IOException;
import java.io.UncheckedIOException;

/**
 * The policy that trainer and samplers compute.
 *
 * @param card what its checkpoints say of it
 * @param start where its first weights come from
 */
record PolicyModel(
    DecoderSettings settings, Tokenizer tokenizer, CheckpointCard card, Start start) {
  /** Where the first weights come from. */
  sealed interface Start {
    /** They are drawn: {@link WeightInit}. */
    record Random() implements Start {}

    /** They are read. */
    record Stored(Pretrained checkpoint) implements Start {}
  }

  static PolicyModel random(DecoderSettings settings, Tokenizer tokenizer) {
    return new PolicyModel(
        settings, tokenizer, CheckpointCard.of(settings, tokenizer), new Start.Random());
  }

  static PolicyModel of(Pretrained checkpoint) {
    return new PolicyModel(
        checkpoint.settings(),
        checkpoint.tokenizer(),
        checkpoint.card(),
        new Start.Stored(checkpoint));
  }

  /** The first weights; {@code seed} is of those that are drawn. */
  Weights weights(DecoderLayout layout, Device device, long seed) {
    return switch (start) {
      case Start.Random() -> Weights.random(layout, device, seed, settings.initStd());
      case Start.Stored(Pretrained checkpoint) -> {
        try {
          yield checkpoint.weights(layout, device);
        } catch (IOException failure) {
          throw new UncheckedIOException(failure);
        }
      }
    };
  }
}
