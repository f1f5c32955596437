package io.troupe.engine.djl;

import io.troupe.engine.WeightSnapshot;

/**
 * A sampler's weights: float32 on the host, where snapshots are, and from them what the program
 * takes. Where that is another device or precision it is made once a snapshot, not once a token.
 */
final class SamplingWeights implements ProgramWeights, AutoCloseable {
  private final Decoder decoder;
  private final Weights host;
  private boolean apart;
  private Value active;

  SamplingWeights(Decoder decoder) {
    this.decoder = decoder;
    this.host = Weights.zeros(decoder.layout());
    this.active = host.all();
  }

  /**
   * Takes a snapshot over.
   *
   * @throws IllegalArgumentException if it is of another policy; nothing is changed then
   */
  void load(WeightSnapshot snapshot) {
    host.load(snapshot);
    if (!decoder.device().equals(Device.host()) || decoder.precision() != Precision.FLOAT32) {
      release();
      try (Program.Call call = decoder.bare("placed")) {
        active = call.with(host.all()).value();
      }
      apart = true;
    }
  }

  @Override
  public Value all() {
    return active;
  }

  private void release() {
    if (apart) {
      active.close();
      active = host.all();
      apart = false;
    }
  }

  @Override
  public void close() {
    release();
    host.close();
  }
}
