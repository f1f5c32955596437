package io.troupe.engine.safetensors;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class RedundantTensorsTest {
  private static final String EMBEDDING = "model.embed_tokens.weight";
  private static final String OUTPUT = "lm_head.weight";

  @TempDir private Path folder;

  private static StoredTensor tensor(String name, DType type, float... values) {
    MemorySegment floats = MemorySegment.ofArray(values);
    MemorySegment stored = Arena.ofAuto().allocate((long) values.length * type.bytes());
    type.fromFloats(floats, stored);
    return new StoredTensor(name, type, List.of((long) values.length), stored);
  }

  private Set<String> read(String config, long shardBytes, StoredTensor... more)
      throws IOException {
    List<StoredTensor> tensors = new ArrayList<>(List.of(more));
    tensors.add(tensor(EMBEDDING, DType.F32, 1, 2, .5f));
    ModelFiles.write(folder, tensors, shardBytes);
    if (!config.isEmpty()) {
      Files.writeString(folder.resolve("config.json"), config);
    }
    try (Arena arena = Arena.ofConfined()) {
      return ModelFiles.map(folder, arena).tensors().keySet();
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {1000, 1})
  void map_tiedOutputOfEqualNumbersAndRotaryTables_areLeftOut(long shardBytes) throws IOException {
    assertThat(
            read(
                "{\"tie_word_embeddings\": true}",
                shardBytes,
                tensor(OUTPUT, DType.BF16, 1, 2, .5f),
                tensor("model.rotary_emb.inv_freq", DType.F32, 1),
                tensor("model.layers.3.self_attn.rotary_emb.inv_freq", DType.F32, 1),
                tensor("model.layers.3.self_attn.rotary_emb.cos_cached", DType.F32, 1),
                tensor("model.rotary_emb.original_inv_freq", DType.F32, 1)))
        .containsExactly(EMBEDDING);
  }

  @ParameterizedTest
  @CsvSource({"1000, 1, 2, 0.25", "1, 1, 2, 0.25", "1000, 1, NaN, 0.5"})
  void map_tiedOutputOfOtherNumbers_namesBothRemedies(
      long shardBytes, float first, float second, float third) {
    assertThatThrownBy(
            () ->
                read(
                    "{\"tie_word_embeddings\": true}",
                    shardBytes,
                    tensor(OUTPUT, DType.F32, first, second, third)))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("holds lm_head.weight with other values than " + EMBEDDING)
        .hasMessageContaining("set tie_word_embeddings to false to compute with lm_head.weight")
        .hasMessageContaining("or remove that tensor to compute with the embedding");
  }

  @ParameterizedTest
  @ValueSource(strings = {"{\"tie_word_embeddings\": false}", "{}", ""})
  void map_outputThatIsNotTied_isAWeight(String config) throws IOException {
    assertThat(
            read(
                config,
                1000,
                tensor(OUTPUT, DType.F32, 1, 2, .5f),
                tensor("extra.weight", DType.F32, 1)))
        .containsExactlyInAnyOrder(EMBEDDING, OUTPUT, "extra.weight");
  }

  @Test
  void map_manyNumbers_comparesAllOfThem() throws IOException {
    long many = (1 << 20) + 3;
    Arena arena = Arena.ofAuto();
    MemorySegment one = arena.allocate(many * Float.BYTES);
    MemorySegment other = arena.allocate(many * Short.BYTES);
    other.set(ValueLayout.JAVA_SHORT, (many - 1) * Short.BYTES, (short) 0x3F80);
    ModelFiles.write(
        folder,
        List.of(
            new StoredTensor(EMBEDDING, DType.F32, List.of(many), one),
            new StoredTensor(OUTPUT, DType.BF16, List.of(many), other)),
        1L << 40);
    Files.writeString(folder.resolve("config.json"), "{\"tie_word_embeddings\": true}");
    try (Arena mapped = Arena.ofConfined()) {
      assertThatThrownBy(() -> ModelFiles.map(folder, mapped))
          .hasMessageContaining("holds lm_head.weight with other values");
    }
  }
}
