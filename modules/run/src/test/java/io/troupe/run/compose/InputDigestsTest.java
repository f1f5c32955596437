package io.troupe.run.compose;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.config.RunConfig;
import io.troupe.config.binding.ConfigurationFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The digests that a node compares with the coordinator's, beside data, tokenizer and architecture.
 */
final class InputDigestsTest {
  private static final Path TINY =
      Path.of("../engine-djl/src/test/resources/io/troupe/engine/djl/parity/qwen3-tied");

  @TempDir private Path folder;

  private Map<String, String> inputs(String... changes) throws IOException {
    String text =
        """
        task: {name: arithmetic, min: 0, max: 9, held_out_share: 0.2}
        policy: {engine: pretrained, checkpoint: %s, context_length: 32}
        rollout: {completions_per_prompt: 4, max_tokens: 3}
        training: {steps: 2, groups_per_step: 4, learning_rate: 1e-4}
        verifier:
          rewards:
          - {source: arithmetic, verifier: command, options: ["run=python3 '%s' --strict"]}
        """
            .formatted(checkpoint(), program());
    return InputDigests.of(
        Composition.of(
            ConfigurationFile.bind(
                    RunConfig.class, folder.resolve("run.yaml"), text, List.of(changes))
                .config()));
  }

  private Path checkpoint() throws IOException {
    Path copy = folder.resolve("checkpoint");
    if (!Files.exists(copy)) {
      Files.createDirectory(copy);
      try (Stream<Path> files = Files.list(TINY)) {
        for (Path file : files.filter(Files::isRegularFile).toList()) {
          Files.copy(file, copy.resolve(String.valueOf(file.getFileName())));
        }
      }
    }
    return copy.toAbsolutePath();
  }

  private Path program() throws IOException {
    Path program = folder.resolve("judge.py");
    if (!Files.exists(program)) {
      Files.writeString(program, "print(1)");
    }
    return program.toAbsolutePath();
  }

  private static List<String> changed(Map<String, String> before, Map<String, String> after) {
    List<String> changed = new ArrayList<>();
    for (String what : new TreeSet<>(before.keySet())) {
      if (!Objects.equals(before.get(what), after.get(what))) {
        changed.add(what);
      }
    }
    return changed;
  }

  @Test
  void of_verifiersProgramOfAnotherText_differsInVerifiersAlone() throws IOException {
    Map<String, String> before = inputs();
    assertThat(inputs()).isEqualTo(before);
    Files.writeString(program(), "print(2)");
    assertThat(changed(before, inputs())).containsExactly("verifiers");
  }

  @Test
  void of_checkpointOfTheSameShapesAndOtherNumbers_differsInTheBaseAlone() throws IOException {
    Map<String, String> before = inputs();
    Path tensors = CheckpointFingerprint.tensors(checkpoint()).getFirst();
    byte[] bytes = Files.readAllBytes(tensors);
    bytes[bytes.length / 2] ^= 1;
    Files.write(tensors, bytes);
    assertThat(changed(before, inputs())).containsExactly("base");
  }

  @Test
  void of_sidecarsWithAModelOfTheirOwn_comparesItToo() throws IOException {
    Path model = Files.createDirectory(folder.resolve("model"));
    Files.write(model.resolve("model.safetensors"), new byte[3]);
    String[] own = {
      "rollout.sidecars.count=1",
      "rollout.sidecars.server=vllm",
      "rollout.sidecars.model=" + model.toAbsolutePath()
    };
    Map<String, String> before = inputs(own);
    assertThat(before).containsKey("served");
    assertThat(inputs()).doesNotContainKey("served");
    Files.write(model.resolve("model.safetensors"), new byte[4]);
    assertThat(changed(before, inputs(own))).containsExactly("served");
  }
}
