package io.troupe.engine.djl.model;

import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.djl.torch.Precision;
import io.troupe.engine.safetensors.DType;
import io.troupe.engine.safetensors.TensorDigest;
import io.troupe.engine.weights.WeightSnapshot;
import java.util.List;

/**
 * The weights of a trainer, and the part of them that it trains. What is trained is float32, the
 * master weights; what passes compute with is in the precision of the decoder.
 */
public sealed interface TrainableWeights extends AutoCloseable {
  /**
   * Creates trainable weights from the given first weights, which are float32.
   *
   * @throws IllegalArgumentException if {@code decay} names a tensor that is not trained
   */
  static TrainableWeights of(
      Tuning tuning, Decoder decoder, ModelWeights first, WeightDecay decay, long seed) {
    TrainableWeights made =
        switch (tuning) {
          case Tuning.Full() ->
              new Whole(
                  first, decoder.precision() == Precision.FLOAT32 ? first : first.copyFor(decoder));
          case Tuning.LowRank settings -> {
            LowRankAdapters adapters = LowRankAdapters.random(settings, first, decay, seed);
            yield new Adapted(first.turnedInto(decoder), adapters);
          }
        };
    try {
      decay.requireNames(made.trainable().layout());
      return made;
    } catch (IllegalArgumentException refused) {
      made.close();
      throw refused;
    }
  }

  /** Returns the tensors that training updates, in float32. */
  ModelWeights trainable();

  /** Returns all weights of the policy except adapters, as passes compute with them. */
  ModelWeights whole();

  /**
   * Returns the trained tensors as the leaves of a graph.
   *
   * @param inParts whether the gradient of the output matrix is added by parts, without a leaf
   */
  GradientLeaves leaves(boolean inParts);

  /** Returns the same of those above the layers, for a graph that begins there. */
  GradientLeaves headLeaves(boolean inParts);

  /** Returns gradients of the trained tensors. */
  FlatGradients gradients(Decoder decoder);

  /** Takes the updated tensors up into what passes compute with. */
  void moved(Decoder decoder);

  /**
   * Returns the type of element that passes compute with what is trained: another process needs no
   * finer numbers of it.
   */
  DType computedWith(Decoder decoder);

  /** Returns these weights as a version, in numbers that the precision of the decoder has. */
  WeightSnapshot snapshot(Decoder decoder, WeightVersion version);

  /** Returns these weights as the reference policy. */
  ReferenceWeights reference(Decoder decoder, boolean moved);

  @Override
  void close();

  /**
   * Training updates all weights.
   *
   * @param trainable the master weights
   * @param whole the same in the precision of the decoder; the master weights themselves if that is
   *     float32
   */
  record Whole(ModelWeights trainable, ModelWeights whole) implements TrainableWeights {
    @Override
    public GradientLeaves leaves(boolean inParts) {
      return GradientLeaves.of(whole, inParts);
    }

    @Override
    public GradientLeaves headLeaves(boolean inParts) {
      return GradientLeaves.ofHead(whole, inParts);
    }

    @Override
    public FlatGradients gradients(Decoder decoder) {
      return FlatGradients.of(decoder, trainable.flatLayout());
    }

    @Override
    public void moved(Decoder decoder) {
      if (whole != trainable) {
        whole.copyFrom(decoder, trainable);
      }
    }

    @Override
    public DType computedWith(Decoder decoder) {
      return switch (decoder.precision()) {
        case FLOAT32 -> DType.F32;
        case BFLOAT16 -> DType.BF16;
      };
    }

    @Override
    public WeightSnapshot snapshot(Decoder decoder, WeightVersion version) {
      return whole.snapshot(version);
    }

    @Override
    public ReferenceWeights reference(Decoder decoder, boolean hasMoved) {
      return new ReferenceWeights.Frozen(whole.copyFor(decoder));
    }

    @Override
    public void close() {
      if (whole != trainable) {
        whole.close();
      }
      trainable.close();
    }
  }

  /** Training updates adapters beside a frozen base. */
  record Adapted(ModelWeights base, LowRankAdapters adapters) implements TrainableWeights {
    @Override
    public ModelWeights whole() {
      return base;
    }

    @Override
    public ModelWeights trainable() {
      return adapters.weights();
    }

    @Override
    public GradientLeaves leaves(boolean inParts) {
      return GradientLeaves.of(base, adapters);
    }

    @Override
    public GradientLeaves headLeaves(boolean inParts) {
      return GradientLeaves.ofHead(base, adapters);
    }

    @Override
    public FlatGradients gradients(Decoder decoder) {
      return FlatGradients.of(decoder, adapters);
    }

    /** Passes compute with the adapters themselves. */
    @Override
    public void moved(Decoder decoder) {}

    @Override
    public DType computedWith(Decoder decoder) {
      return DType.F32;
    }

    @Override
    public WeightSnapshot snapshot(Decoder decoder, WeightVersion version) {
      List<WeightSnapshot.Tensor> exact = adapters.mergedCopies(decoder, base);
      List<WeightSnapshot.Tensor> merged =
          decoder.precision() == Precision.FLOAT32
              ? exact
              : exact.parallelStream().map(DType.BF16::rounded).toList();
      return new WeightSnapshot(version, TensorDigest.of(merged), merged)
          .with(adapters.settings().adapter(adapters.weights().copies()));
    }

    /** Before the first step the adapters add nothing: the base itself is the reference. */
    @Override
    public ReferenceWeights reference(Decoder decoder, boolean hasMoved) {
      if (!hasMoved) {
        return new ReferenceWeights.Base(base);
      }
      try (ModelWeights merged = adapters.merged(decoder, base)) {
        return new ReferenceWeights.Frozen(merged.copyFor(decoder));
      }
    }

    @Override
    public void close() {
      base.close();
      adapters.close();
    }
  }
}
