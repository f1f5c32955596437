package io.troupe.run.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.troupe.base.files.FileTree;
import io.troupe.engine.djl.checkpoint.PretrainedModel;
import io.troupe.engine.safetensors.DType;
import io.troupe.engine.safetensors.ModelFiles;
import io.troupe.engine.safetensors.StoredTensor;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class WeightsExportTest {
  private static final Path TINY =
      Path.of("../engine-djl/src/test/resources/io/troupe/engine/djl/parity/qwen3-tied");

  private static final Path SAVED =
      Path.of("../engine-djl/src/test/resources/io/troupe/engine/djl/saved/qwen3");

  @TempDir private Path folder;

  @Test
  void write_bfloat16_halvesTheWeightsAndLoadsAgain() throws IOException {
    Path target = folder.resolve("out");
    assertThat(WeightsExport.write(TINY, target, DType.BF16)).isEqualTo(10_096);

    assertThat(PretrainedModel.open(target).parameters()).isEqualTo(10_096);
    JsonNode config = new JsonMapper().readTree(Files.readString(target.resolve("config.json")));
    assertThat(config.path("torch_dtype").asText()).isEqualTo("bfloat16");
    assertThat(config.path("dtype").asText()).isEqualTo("bfloat16");
    try (Arena arena = Arena.ofConfined()) {
      float[] before = values(TINY, arena);
      float[] after = values(target, arena);
      for (int i = 0; i < before.length; i++) {
        assertThat(after[i]).isBetween(before[i] - near(before[i]), before[i] + near(before[i]));
      }
    }
  }

  /** Half of the last of bfloat16's eight digits. */
  private static float near(float value) {
    return Math.abs(value) / 256 + Float.MIN_NORMAL;
  }

  private static float[] values(Path model, Arena arena) throws IOException {
    StoredTensor tensor =
        Objects.requireNonNull(ModelFiles.map(model, arena).tensors().get("model.norm.weight"));
    return tensor.loaded(arena).data().toArray(ValueLayout.JAVA_FLOAT);
  }

  /** Also where the folder holds weights of other formats, and the state of a trainer. */
  @Test
  void write_ofACheckpointThatTransformersSaved_keepsItsFilesAndNothingElse() throws IOException {
    Path source = folder.resolve("source");
    for (Path file : FileTree.files(SAVED)) {
      Path copy = source.resolve(SAVED.relativize(file).toString());
      Files.createDirectories(copy.resolveSibling("."));
      Files.copy(file, copy);
    }
    Files.writeString(source.resolve("LICENSE"), "free");
    Files.writeString(source.resolve("pytorch_model.bin"), "other weights");
    Files.writeString(
        Files.createDirectory(source.resolve("trainer")).resolve("optimizer.safetensors"), "state");

    Path target = folder.resolve("out");
    WeightsExport.write(source, target, DType.F32);

    assertThat(FileTree.files(target).stream().map(file -> target.relativize(file).toString()))
        .containsExactly(
            "LICENSE",
            "additional_chat_templates/tool_use.jinja",
            "chat_template.jinja",
            "config.json",
            "generation_config.json",
            "model.safetensors",
            "tokenizer.json",
            "tokenizer_config.json");
    JsonNode config = new JsonMapper().readTree(target.resolve("config.json").toFile());
    assertThat(config.path("dtype").asText()).isEqualTo("float32");
    assertThat(config.path("torch_dtype").asText()).isEqualTo("float32");
  }

  @Test
  void write_targetInUseOrNoCheckpoint_isRefused() throws IOException {
    Files.writeString(folder.resolve("something"), "");
    assertThatThrownBy(() -> WeightsExport.write(TINY, folder, DType.F32))
        .hasMessageContaining("it is not empty; name a new folder");
    assertThatThrownBy(() -> WeightsExport.write(folder, folder.resolve("out"), DType.F32))
        .hasMessageContaining("it has no config.json");
  }
}
