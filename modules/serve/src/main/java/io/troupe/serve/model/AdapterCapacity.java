package io.troupe.serve.model;

import static io.troupe.core.Require.require;

import io.troupe.engine.SamplingEngine;
import java.util.function.Supplier;

/**
 * The number of adapters that a server may hold at a time.
 *
 * @param most 0 for none
 * @param engines makes an engine without weights; the server closes the engine
 */
public record AdapterCapacity(int most, Supplier<SamplingEngine> engines) {
  public AdapterCapacity {
    require(most >= 0, "a server has room for 0 adapters or more, not %d", most);
  }

  /** A server that loads no adapter. */
  public static AdapterCapacity none() {
    return new AdapterCapacity(
        0,
        () -> {
          throw new IllegalStateException("there is no room for adapters");
        });
  }
}
