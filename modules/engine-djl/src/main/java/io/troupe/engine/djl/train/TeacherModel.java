package io.troupe.engine.djl.train;

import io.troupe.engine.djl.checkpoint.TeacherCheckpoint;
import io.troupe.engine.djl.model.Decoder;
import io.troupe.engine.djl.model.FlatLayout;
import io.troupe.engine.djl.model.ModelWeights;
import io.troupe.engine.djl.model.WeightDecay;
import io.troupe.engine.djl.torch.ComputeSettings;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.function.Consumer;

/**
 * The teacher of a distillation: frozen weights and the decoder that computes its distributions.
 */
record TeacherModel(Decoder decoder, ModelWeights weights) implements AutoCloseable {
  /**
   * Reads a teacher's weights.
   *
   * @throws UncheckedIOException if the files changed after they were opened
   */
  static TeacherModel of(
      TeacherCheckpoint checkpoint, ComputeSettings compute, Consumer<String> calls) {
    Decoder decoder =
        new Decoder(
            checkpoint.settings(),
            checkpoint.vocabulary(),
            compute.device(),
            compute.precision(),
            calls);
    try {
      FlatLayout layout = FlatLayout.of(decoder.layout(), WeightDecay.MATRICES);
      return new TeacherModel(
          decoder, checkpoint.weights(layout, compute.device()).turnedInto(decoder));
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
