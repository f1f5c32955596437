package io.troupe.engine.djl;

import io.troupe.engine.WeightSnapshot;
import java.util.List;

/**
 * A sampler's weights: what the program makes of a snapshot once, so that a token costs fewer
 * operations, and on the device and in the precision it computes in.
 */
final class SamplingWeights implements ProgramWeights, AutoCloseable {
  private final Decoder decoder;
  private Value joined = Value.of(List.of());

  SamplingWeights(Decoder decoder) {
    this.decoder = decoder;
  }

  /**
   * Takes a snapshot over.
   *
   * @throws IllegalArgumentException if it is of another policy; nothing is changed then
   * @throws OutOfMemoryException if there may be no weights now, until a snapshot is taken over
   */
  void load(WeightSnapshot snapshot) {
    Weights.Maker maker = (_, type, shape) -> decoder.zeros(type, shape);
    try (Weights staged = Weights.zeros(decoder.layout(), Device.host(), maker)) {
      staged.load(snapshot);
      joined.close(); // both do not fit beside each other
      joined = Value.of(List.of());
      try (Program.Call call = decoder.call("joined", staged)) {
        joined = call.value();
      }
    }
  }

  @Override
  public Value all() {
    return joined;
  }

  @Override
  public void close() {
    joined.close();
  }
}
