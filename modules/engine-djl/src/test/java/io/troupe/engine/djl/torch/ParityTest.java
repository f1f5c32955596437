package io.troupe.engine.djl.torch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.troupe.core.completion.Completion;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.SampleRequest;
import io.troupe.engine.SamplingEngine;
import io.troupe.engine.SamplingSettings;
import io.troupe.engine.djl.DjlPolicy;
import io.troupe.engine.djl.checkpoint.PolicyModel;
import io.troupe.engine.djl.checkpoint.PretrainedModel;
import io.troupe.engine.djl.checkpoint.TinyCheckpoints;
import io.troupe.engine.djl.model.Decoder;
import io.troupe.engine.djl.model.Fixtures;
import io.troupe.engine.djl.model.FlatLayout;
import io.troupe.engine.djl.model.ModelWeights;
import io.troupe.engine.djl.model.ReferenceDecoder;
import io.troupe.engine.djl.model.WeightDecay;
import io.troupe.engine.djl.torch.NativeTensor.ElementType;
import io.troupe.engine.train.TrainingEngine;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The program against a plain PyTorch implementation of each family. */
final class ParityTest {
  private static final double TOLERANCE = 1e-4;

  static List<String> names() {
    return TinyCheckpoints.ALL;
  }

  @ParameterizedTest
  @MethodSource("names")
  void logits_wholeSequence_areThoseOfPyTorch(String name) throws IOException {
    Path directory = TinyCheckpoints.directory(name);
    JsonNode reference = new ObjectMapper().readTree(directory.resolve("reference.json").toFile());
    int[] ids =
        IntStream.range(0, reference.path("ids").size())
            .map(i -> reference.path("ids").path(i).asInt())
            .toArray();
    FloatBuffer expected =
        ByteBuffer.wrap(Files.readAllBytes(directory.resolve("logits.bin")))
            .order(ByteOrder.LITTLE_ENDIAN)
            .asFloatBuffer();

    float[] logits = logits(TinyCheckpoints.open(name), ids);

    assertThat(logits).hasSize(expected.remaining());
    double worst = 0;
    double largest = 0;
    for (int i = 0; i < logits.length; i++) {
      worst = Math.max(worst, Math.abs((double) logits[i] - expected.get(i)));
      largest = Math.max(largest, Math.abs(expected.get(i)));
    }
    assertThat(worst).as("of logits up to %s", largest).isLessThanOrEqualTo(TOLERANCE);
    assertThat(largest).isGreaterThan(1); // far from uniform, or the comparison says little
  }

  /** The cache of keys and values, one token at a time, gives what the whole sequence gives. */
  @ParameterizedTest
  @MethodSource("names")
  void decode_tokenByToken_hasTheLogProbabilitiesOfTheWholeSequence(String name) {
    PretrainedModel checkpoint = TinyCheckpoints.open(name);
    DjlPolicy policy = DjlPolicy.create(checkpoint, ComputeSettings.of(1, 1, 1 << 14));
    int[] prompt = {3, 141, 59, 26, 253};
    List<Completion> completions;
    try (TrainingEngine trainer = policy.newTrainer(0);
        SamplingEngine sampler = policy.newSampler()) {
      sampler.load(trainer.snapshot(WeightVersion.BASE));
      completions =
          sampler
              .sample(
                  List.of(
                      new SampleRequest(
                          Fixtures.lease(1), prompt, 4, new SamplingSettings(1, 40), 7)))
              .getFirst()
              .toCompletableFuture()
              .join();
    }
    for (Completion completion : completions) {
      int[] ids = Arrays.copyOf(prompt, prompt.length + completion.length());
      System.arraycopy(completion.tokens(), 0, ids, prompt.length, completion.length());
      float[] logits = logits(checkpoint, ids);
      int vocabulary = checkpoint.tokenizer().vocabularySize();
      for (int t = 0; t < completion.length(); t++) {
        int row = (prompt.length + t - 1) * vocabulary;
        double[] numbers = new double[vocabulary];
        Arrays.setAll(numbers, i -> logits[row + i]);
        double expected = ReferenceDecoder.logSoftmax(numbers, 1)[completion.tokens()[t]];
        assertThat((double) completion.logProbs()[t]).isCloseTo(expected, within(TOLERANCE));
      }
    }
  }

  private static float[] logits(PretrainedModel checkpoint, int[] ids) {
    Torch.load();
    Torch.enter(1, false);
    int vocabulary = checkpoint.tokenizer().vocabularySize();
    try (Decoder decoder = new Decoder(checkpoint.settings(), vocabulary);
        ModelWeights weights =
            PolicyModel.of(checkpoint)
                .weights(FlatLayout.of(decoder.layout(), WeightDecay.MATRICES), Device.host(), 0);
        NativeTensor tokens = NativeTensor.zeros(ElementType.INT64, 1, ids.length);
        NativeTensor length = NativeTensor.zeros(ElementType.INT64, 1);
        NativeTensor none = NativeTensor.zeros(ElementType.INT64, 0, 0);
        NativeTensor owner = NativeTensor.zeros(ElementType.INT64, 0);
        NativeTensor at = NativeTensor.zeros(ElementType.INT64, ids.length);
        TorchProgram.Call call = decoder.call("logits", weights)) {
      length.memory().set(ValueLayout.JAVA_LONG, 0, ids.length);
      for (int i = 0; i < ids.length; i++) {
        tokens.memory().setAtIndex(ValueLayout.JAVA_LONG, i, ids[i]);
        at.memory().setAtIndex(ValueLayout.JAVA_LONG, i, i);
      }
      try (NativeTensor logits =
          call.with(tokens)
              .with(length)
              .with(none)
              .with(owner)
              .with(at)
              .tensor(ElementType.FLOAT32, (long) ids.length * vocabulary)) {
        return logits.memory().toArray(ValueLayout.JAVA_FLOAT);
      }
    }
  }
}
