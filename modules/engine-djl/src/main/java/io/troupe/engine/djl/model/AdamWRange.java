package io.troupe.engine.djl.model;

import io.troupe.engine.djl.torch.NativeTensor;
import io.troupe.engine.djl.torch.TorchProgram;
import io.troupe.engine.djl.torch.TorchValue;
import io.troupe.engine.train.OptimizerSettings;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * AdamW on one range of the flat arrays of the trained weights, fused on their device: float32
 * weights and both moments of the range, which other objects own.
 */
public final class AdamWRange implements AutoCloseable {
  private static final double CLIP_EPSILON = 1e-6;

  /** Elements whose squares are summed in single precision. */
  private static final long PART = 1L << 12;

  private final Decoder decoder;
  private final long size;
  private final long border;
  private final Groups weights;
  private final Groups first;
  private final Groups second;

  /** The part of a flat array with weight decay, and the part without; each may be missing. */
  private record Groups(List<NativeTensor> tensors, TorchValue decaying, TorchValue others)
      implements AutoCloseable {
    static Groups of(NativeTensor flat, long border, long size) {
      List<NativeTensor> decaying =
          border > 0 ? List.of(flat.slice(0, border)) : List.<NativeTensor>of();
      List<NativeTensor> others =
          border < size ? List.of(flat.slice(border, size)) : List.<NativeTensor>of();
      return new Groups(
          Stream.concat(decaying.stream(), others.stream()).toList(),
          TorchValue.of(decaying),
          TorchValue.of(others));
    }

    @Override
    public void close() {
      decaying.close();
      others.close();
      tensors.forEach(NativeTensor::close);
    }
  }

  /**
   * Creates the optimizer of a range.
   *
   * @param size number of elements of the range
   * @param border number of elements, from the first of the range on, that weight decay applies to
   * @param weights float32, of the range, as are both moments
   */
  public AdamWRange(
      Decoder decoder,
      long size,
      long border,
      NativeTensor weights,
      NativeTensor first,
      NativeTensor second) {
    this.decoder = decoder;
    this.size = size;
    this.border = border;
    List<Groups> made = new ArrayList<>();
    for (NativeTensor flat : List.of(weights, first, second)) {
      made.add(Groups.of(flat, border, size));
    }
    this.weights = made.get(0);
    this.first = made.get(1);
    this.second = made.get(2);
  }

  /** Returns the sum of the squares of a gradient of the range. */
  public double squaredNorm(NativeTensor gradient) {
    try (TorchProgram.Call call = decoder.call("squared_norm")) {
      return call.with(gradient).with(PART).numbers()[0];
    }
  }

  /**
   * Makes step {@code t}.
   *
   * @param gradient of the range; undefined afterwards
   * @param norm global norm, by which the gradient is clipped
   */
  public void step(NativeTensor gradient, double norm, long t, OptimizerSettings o) {
    double divisor =
        o.gradientClip() > 0 ? Math.max(1, (norm + CLIP_EPSILON) / o.gradientClip()) : 1;
    try (Groups gradients = Groups.of(gradient, border, size);
        TorchProgram.Call call = decoder.call("adamw")) {
      call.with(weights.decaying)
          .with(gradients.decaying)
          .with(first.decaying)
          .with(second.decaying)
          .with(weights.others)
          .with(gradients.others)
          .with(first.others)
          .with(second.others)
          .with(divisor)
          .with(o.learningRate())
          .with(o.beta1())
          .with(o.beta2())
          .with(o.epsilon())
          .with(o.weightDecay())
          .with(t)
          .run();
    }
  }

  @Override
  public void close() {
    weights.close();
    first.close();
    second.close();
  }
}
