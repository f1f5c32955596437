package io.troupe.engine.djl.train;

import io.troupe.base.foreign.ForeignFunctions;
import io.troupe.base.process.JavaCommand;
import io.troupe.core.loss.TrainingSequence;
import io.troupe.engine.CharacterTokenizer;
import io.troupe.engine.Tokenizer;
import io.troupe.engine.djl.DjlPolicy;
import io.troupe.engine.djl.model.DecoderSettings;
import io.troupe.engine.djl.model.Fixtures;
import io.troupe.engine.djl.model.Tuning;
import io.troupe.engine.djl.torch.ComputeSettings;
import io.troupe.engine.djl.torch.Device;
import io.troupe.engine.djl.torch.Precision;
import io.troupe.engine.djl.train.TrainingMode.Activations;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.FunctionDescriptor;
import java.lang.invoke.MethodHandle;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/**
 * The most bytes of tensors that are alive at a time while a process makes a step, to the page. The
 * C library counts them: with a fixed threshold it maps each allocation of {@value #COUNTED} bytes
 * or more by itself and keeps the most that was mapped. The Java virtual machine allocates next to
 * nothing of this size by it.
 */
final class StepMemory {
  private static final int SUPPLEMENT = Character.MIN_SUPPLEMENTARY_CODE_POINT;
  private static final int MICRO_BATCHES = 2;
  private static final int COUNTED = 1 << 19;
  private static final Pattern MOST = Pattern.compile("max mmap bytes *= *(\\d+)");

  /**
   * A policy and a micro-batch of it.
   *
   * @param sequences of a micro-batch: prompts of one token with completions, as long together as
   *     the context
   * @param logitRows positions whose logits are held at a time
   */
  record Load(
      int vocabulary,
      int hidden,
      int layers,
      int sequences,
      int length,
      int logitRows,
      Precision precision) {
    private static Load parsed(String[] words) {
      int[] sizes = Arrays.stream(words).limit(6).mapToInt(Integer::parseInt).toArray();
      return new Load(
          sizes[0],
          sizes[1],
          sizes[2],
          sizes[3],
          sizes[4],
          sizes[5],
          Precision.valueOf(words[words.length - 1]));
    }

    private List<String> words() {
      List<String> words = new ArrayList<>();
      for (int size : List.of(vocabulary, hidden, layers, sequences, length, logitRows)) {
        words.add(Integer.toString(size));
      }
      words.add(precision.name());
      return words;
    }

    /** A decoder with the proportions of Qwen3-0.6B. */
    private DecoderSettings decoder() {
      int heads = hidden / 32;
      return new DecoderSettings(
          hidden, layers, heads, heads / 2, 64, 3 * hidden, length, 10_000, 1e-6, true, .02);
    }

    private Tokenizer tokenizer() {
      int[] characters = IntStream.range(SUPPLEMENT, SUPPLEMENT + vocabulary - 2).toArray();
      return new CharacterTokenizer(new String(characters, 0, characters.length));
    }

    private List<TrainingSequence> batch() {
      Random random = new Random(7);
      List<TrainingSequence> batch = new ArrayList<>();
      int count = MICRO_BATCHES * sequences;
      for (int i = 0; i < count; i++) {
        float[] weights = new float[length - 1];
        Arrays.fill(weights, 1f / (count * (length - 1)));
        batch.add(
            new TrainingSequence(
                new int[] {2 + i},
                random.ints(length - 1L, 2, vocabulary).toArray(),
                new float[length - 1],
                weights,
                1));
      }
      return batch;
    }
  }

  private StepMemory() {}

  /** Makes a step, and has the C library print what it counted. */
  public static void main(String[] words) {
    Load load = Load.parsed(words);
    ComputeSettings compute =
        ComputeSettings.of(1, 1, load.sequences * load.length)
            .withLogits((long) load.logitRows * load.vocabulary * Float.BYTES)
            .on(Device.host(), load.precision);
    DjlPolicy policy =
        DjlPolicy.create(load.decoder(), load.tokenizer(), compute)
            .trained(new TrainingMode(new Tuning.Full(), Activations.RECOMPUTED));
    try (DjlTrainer trainer = (DjlTrainer) policy.newTrainer(3)) {
      Fixtures.stepped(trainer.trainSupervised(load.batch(), Fixtures.ADAM));
    }
    MethodHandle print =
        ForeignFunctions.ofTheCLibrary("malloc_stats", FunctionDescriptor.ofVoid());
    ForeignFunctions.call(
        () -> {
          print.invokeExact();
          return 0;
        });
  }

  /** Returns the most bytes of a load's step, in a process of its own. */
  static long most(Load load) {
    ProcessBuilder builder =
        JavaCommand.of(StepMemory.class)
            .with(JavaCommand.BASIC)
            .with(JavaCommand.SERIAL_COLLECTOR)
            .heap(256)
            .process(load.words())
            .redirectErrorStream(true);
    builder
        .environment()
        .put("GLIBC_TUNABLES", "glibc.malloc.mmap_threshold=%d".formatted(COUNTED));
    try {
      Process process = builder.start();
      String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      Matcher found = MOST.matcher(output);
      if (!found.find()) {
        throw new AssertionError("the C library counted nothing:\n" + output);
      }
      return Long.parseLong(found.group(1));
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }
}
