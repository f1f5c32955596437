package io.troupe.benchmarks.engine;

import com.fasterxml.jackson.databind.json.JsonMapper;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.djl.DjlPolicy;
import io.troupe.engine.train.TrainingEngine;
import io.troupe.engine.weights.WeightSnapshot;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.Channels;
import java.nio.channels.WritableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/**
 * Random weights that never end a completion, so that a benchmark says how long each becomes.
 *
 * <p>Feature 0 of the residual stream is made the same positive number at every token and written
 * by no block, and the output row of the token that ends a completion points far away from it.
 */
public final class NeverEndingWeights {
  private static final float STEADY = .1f;
  private static final float AWAY = -20;

  private NeverEndingWeights() {}

  static WeightSnapshot endless(DjlPolicy policy, long seed) {
    // On a thread that ends: its OpenMP threads would continue to count against the sampler's.
    WeightSnapshot fresh =
        CompletableFuture.supplyAsync(
                () -> fresh(policy, seed), task -> Thread.ofPlatform().start(task))
            .join();
    int end = policy.tokenizer().endOfSequence();
    List<WeightSnapshot.Tensor> tensors =
        fresh.tensors().stream().map(tensor -> endless(tensor, end)).toList();
    return new WeightSnapshot(fresh.version(), "endless-" + seed, tensors);
  }

  private static WeightSnapshot fresh(DjlPolicy policy, long seed) {
    try (TrainingEngine trainer = policy.newTrainer(seed)) {
      return trainer.snapshot(WeightVersion.BASE);
    }
  }

  private static WeightSnapshot.Tensor endless(WeightSnapshot.Tensor tensor, int end) {
    MemorySegment data = Arena.ofAuto().allocate(tensor.data().byteSize(), Long.BYTES);
    data.copyFrom(tensor.data());
    String name = tensor.name();
    if (name.endsWith("embed_tokens.weight")) {
      long width = tensor.shape().get(1);
      for (long token = 0; token < tensor.shape().get(0); token++) {
        data.setAtIndex(ValueLayout.JAVA_FLOAT, token * width, token == end ? AWAY : STEADY);
      }
    } else if (name.endsWith("o_proj.weight") || name.endsWith("down_proj.weight")) {
      data.asSlice(0, tensor.shape().get(1) * Float.BYTES).fill((byte) 0);
    }
    return new WeightSnapshot.Tensor(name, tensor.shape(), data);
  }

  /** Writes a safetensors file. */
  public static void write(WeightSnapshot weights, Path file) throws IOException {
    Map<String, Object> header = new LinkedHashMap<>();
    long end = 0;
    for (WeightSnapshot.Tensor tensor : weights.tensors()) {
      long begin = end;
      end += tensor.data().byteSize();
      header.put(
          tensor.name(),
          Map.of("dtype", "F32", "shape", tensor.shape(), "data_offsets", List.of(begin, end)));
    }
    String text = JsonMapper.builder().build().writeValueAsString(header);
    byte[] json =
        (text + " ".repeat(Math.floorMod(-text.length(), Long.BYTES)))
            .getBytes(StandardCharsets.UTF_8);
    try (OutputStream out = Files.newOutputStream(file);
        WritableByteChannel channel = Channels.newChannel(out)) {
      out.write(
          ByteBuffer.allocate(Long.BYTES)
              .order(ByteOrder.LITTLE_ENDIAN)
              .putLong(json.length)
              .array());
      out.write(json);
      for (WeightSnapshot.Tensor tensor : weights.tensors()) {
        channel.write(tensor.data().asByteBuffer());
      }
    }
  }
}
