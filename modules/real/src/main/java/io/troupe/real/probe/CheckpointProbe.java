package io.troupe.real.probe;

import io.troupe.engine.djl.checkpoint.PretrainedModel;
import java.io.IOException;
import java.nio.file.Path;

/** Checkpoints: {@code {"folder"}} is answered by {@code {"opened": true}}, or by the refusal. */
public final class CheckpointProbe {
  private CheckpointProbe() {}

  /** Answers until the end of the input. */
  public static void main(String[] arguments) throws IOException {
    ProbeLines.serve(
        question -> {
          PretrainedModel.open(Path.of(question.path("folder").asText()));
          return ProbeLines.object().put("opened", true);
        });
  }
}
