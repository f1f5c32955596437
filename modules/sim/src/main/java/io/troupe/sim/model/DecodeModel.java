package io.troupe.sim.model;

import static io.troupe.core.Require.require;

/** The time that a rollout worker takes for one token of each of its completions. */
public sealed interface DecodeModel {
  /**
   * A step of a + b·rows + c·tokens of context, as a run's own records fit it.
   *
   * @param baseSeconds a
   * @param rowSeconds b
   * @param tokenSeconds c
   */
  record Linear(double baseSeconds, double rowSeconds, double tokenSeconds) implements DecodeModel {
    public Linear {
      require(
          baseSeconds >= 0 && rowSeconds >= 0 && tokenSeconds >= 0,
          "decode.base_seconds, decode.row_seconds and decode.token_seconds are not negative");
      require(
          baseSeconds + rowSeconds + tokenSeconds > 0,
          "decode: one of base_seconds, row_seconds and token_seconds is above 0");
    }
  }

  /**
   * A GPU's roofline: overhead + max(bytes read / bandwidth, operations / speed).
   *
   * @param overheadSeconds sampling and scheduling of a step
   * @param weightBytes read once a step
   * @param cacheBytes of keys and values of one token of context
   * @param bytesPerSecond memory bandwidth that is reached
   * @param tokenOperations of one token, attention left out
   * @param operationsPerSecond that are reached
   */
  record Roofline(
      double overheadSeconds,
      double weightBytes,
      double cacheBytes,
      double bytesPerSecond,
      double tokenOperations,
      double operationsPerSecond)
      implements DecodeModel {
    public Roofline {
      require(
          overheadSeconds >= 0
              && weightBytes > 0
              && cacheBytes > 0
              && bytesPerSecond > 0
              && tokenOperations > 0
              && operationsPerSecond > 0,
          "decode: overhead_seconds is not negative and every other number of a roofline above 0");
    }
  }

  /**
   * Seconds of one step.
   *
   * @param rows completions that get a token
   * @param context tokens that they hold together, prompts included
   */
  default double stepSeconds(int rows, double context) {
    return switch (this) {
      case Linear(double base, double row, double token) -> base + row * rows + token * context;
      case Roofline(
              double overhead,
              double weights,
              double cache,
              double bandwidth,
              double operations,
              double speed) ->
          overhead + Math.max((weights + cache * context) / bandwidth, rows * operations / speed);
    };
  }
}
