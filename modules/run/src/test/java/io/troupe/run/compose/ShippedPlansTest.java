package io.troupe.run.compose;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.config.RunConfig;
import io.troupe.config.binding.ConfigurationException;
import io.troupe.config.binding.ResolvedConfig;
import io.troupe.config.plan.Plan;
import io.troupe.config.policy.PolicySection;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Every run in conf/ plans with its data, as {@code troupe plan} does. */
final class ShippedPlansTest {
  @TempDir private Path folder;

  static Stream<Path> files() throws IOException {
    try (Stream<Path> files = Files.list(Path.of("../../conf"))) {
      return files
          .filter(file -> file.toString().endsWith(".yaml"))
          .filter(
              file ->
                  !String.valueOf(file.getFileName()).matches("(eval|sft|gym|ec2|sagemaker)-.*"))
          .sorted()
          .toList()
          .stream();
    }
  }

  @ParameterizedTest
  @MethodSource("files")
  void plan_shippedFileWithItsTask_isNotRefused(Path file) throws IOException {
    ResolvedConfig<RunConfig> resolved = RunConfig.load(file, offline(file));

    Plan plan = Composition.of(resolved.config()).fittingGpus(resolved);

    assertThat(plan.text()).startsWith("plan of " + file);
    assertThat(plan.capacities().evaluatedPrompts() > 0)
        .isEqualTo(resolved.config().evaluation().every() > 0);
  }

  /** Models of the hub stand here as folders with their shapes; a part of the data suffices. */
  private List<String> offline(Path file) throws IOException {
    Optional<String> checkpoint =
        RunConfig.load(file, List.of()).config().policy()
                instanceof PolicySection.Pretrained pretrained
            ? Optional.of(pretrained.checkpoint())
            : Optional.empty();
    List<String> overrides = new ArrayList<>(fromThisFolder(file));
    if (checkpoint.isPresent()) {
      Path model = Files.createTempDirectory(folder, "model");
      overrides.add("policy.checkpoint=" + ShapedCheckpoints.of(checkpoint.get(), model));
      overrides.add("task.rows=200");
    }
    return overrides;
  }

  /** A plan asks the program of an environment for its tools; its path is the repository's. */
  private static List<String> fromThisFolder(Path file) {
    List<String> command =
        RunConfig.load(file, List.of()).config().episode().environment().command();
    return command.isEmpty()
        ? List.of()
        : List.of(
            "episode.environment.command=["
                + String.join(", ", command).replace("conf/", "../../conf/")
                + "]");
  }

  /** 8.19 G parameters: 6 bytes of weights each, 4 of gradients, 12 divided by the ranks. */
  @Test
  void plan_eightBillionOnFourRanks_countsEachGpu() throws IOException {
    assertThat(text("qwen3-8b-16gpu.yaml"))
        .contains(
            """
            memory of each GPU, estimated
              T      trainer rank, 112.4 GiB: weights 45.8 GiB, gradients 30.5 GiB, piece of the optimizer 22.9 GiB, step 7.0 GiB
              C      coordinator, 133.9 GiB: weights 45.8 GiB, moments 61.0 GiB, evaluator 19.8 GiB
              W      inference server, 119.3 GiB: servers 85 % of it: weights 15.3 GiB, and room for 757,921 tokens of keys and values
              a GPU  has 140.4 GiB (placement.gpu: h200_141gb); PyTorch's allocator: expandable_segments:True, the default here
            """)
        .contains("node 0       C   T0  T1  T2  T3  W0  W1  W2")
        .containsPattern("copies +93,735[.]\\d MiB of its host's memory for each trainer rank");
  }

  @Test
  void plan_eightBillionOnCardsOf80Gigabytes_isRefusedWithNumbersAndKeys() {
    assertThatThrownBy(() -> text("qwen3-8b-16gpu.yaml", "placement.gpu=h100_80gb"))
        .isInstanceOf(ConfigurationException.class)
        .hasMessageContaining(
            "trainer rank takes 112.4 GiB of 79.6 GiB; coordinator takes 133.9 GiB of 79.6 GiB")
        .hasMessageContaining("placement.coordinator_gpu: false")
        .hasMessageContaining("train adapters (policy.lora.rank)")
        .hasMessageContaining("take GPUs with 133.9 GiB (placement.gpu)");
  }

  @Test
  void plan_ranksThatSuffice_areNamed() {
    assertThatThrownBy(
            () ->
                text(
                    "qwen3-8b-16gpu.yaml",
                    "placement.gpu_memory=112",
                    "placement.coordinator_gpu=false"))
        .hasMessageContaining("trainer rank takes 112.4 GiB of 112.0 GiB")
        .hasMessageContaining("take 5 ranks (placement.trainer_ranks)");
  }

  @Test
  void plan_adaptersBesideAServer_shareOneGpu() throws IOException {
    assertThat(text("qwen3-8b-lora.yaml"))
        .contains(
            "GPU 0  trainer, engines and servers of this process, 70.9 GiB: trainer 16.6 GiB, step 3.7 GiB, evaluator 19.8 GiB, servers 35 % of it: weights 15.3 GiB, and room for 91,897 tokens of keys and values");
    assertThatThrownBy(() -> text("qwen3-8b-lora.yaml", "rollout.sidecars.memory_share=0.15"))
        .hasMessageContaining("has 11.9 GiB for its servers, which take 15.5 GiB at least");
  }

  private String text(String name, String... more) throws IOException {
    Path file = Path.of("../../conf", name);
    List<String> overrides = new ArrayList<>(offline(file));
    overrides.addAll(List.of(more));
    ResolvedConfig<RunConfig> resolved = RunConfig.load(file, overrides);
    return Composition.of(resolved.config()).fittingGpus(resolved).text();
  }
}
