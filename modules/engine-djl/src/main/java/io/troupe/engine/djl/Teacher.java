package io.troupe.engine.djl;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.function.Consumer;

/**
 * A policy whose distributions a trainer is asked for: frozen weights, and the decoder that
 * computes them.
 */
record Teacher(Decoder decoder, Weights weights) implements AutoCloseable {
  /**
   * Reads a teacher's weights.
   *
   * @throws UncheckedIOException if its files changed since they were looked at
   */
  static Teacher of(TeacherCheckpoint checkpoint, ComputeSettings compute, Consumer<String> calls) {
    Decoder decoder =
        new Decoder(
            checkpoint.settings(),
            checkpoint.vocabulary(),
            compute.device(),
            compute.precision(),
            calls);
    try {
      return new Teacher(decoder, checkpoint.weights(decoder.layout(), compute.device()));
    } catch (IOException failure) {
      decoder.close();
      throw new UncheckedIOException(failure);
    }
  }

  @Override
  public void close() {
    weights.close();
    decoder.close();
  }
}
