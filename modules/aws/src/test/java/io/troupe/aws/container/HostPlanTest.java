package io.troupe.aws.container;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.store.file.StoreJson;
import io.troupe.testkit.Seeds;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The work of a job's hosts, from the files that SageMaker writes. */
final class HostPlanTest {
  private static final Path BASE = Path.of("/opt/ml");

  static LongStream seeds() {
    return Seeds.twoHundred();
  }

  private static ContainerContract contract(
      String host, String hosts, Map<String, String> assignments, Map<String, String> environment)
      throws IOException {
    return ContainerContract.parse(
        "{\"current_host\":\"%s\",\"hosts\":%s,\"network_interface_name\":\"eth0\",\"topology\":null}"
            .formatted(host, hosts),
        StoreJson.LINE.writeValueAsString(
            new JobParameters("run:\n  seed: 1\n", assignments).hyperparameters()),
        "{\"model\":{\"TrainingInputMode\":\"File\"}}",
        environment);
  }

  private static HostPlan plan(ContainerContract contract, int gpus, Optional<String> copy) {
    return new HostPlan(
        contract,
        ContainerFolders.in(BASE),
        new HostPlan.HostFindings(gpus, "10.0.0.7", "10.0.0.1", copy));
  }

  @Test
  void train_oneHostWithoutGpus_isAPlainRun() throws IOException {
    HostPlan plan =
        plan(
            contract("algo-1", "[\"algo-1\"]", Map.of("training.steps", "20"), Map.of()),
            0,
            Optional.empty());

    assertThat(plan.train())
        .containsExactly(
            "train",
            "/opt/ml/checkpoints/run.yaml",
            "--continue",
            "--set",
            "run.folder=/opt/ml/checkpoints/runs",
            "--set",
            "training.steps=20");
    assertThat(plan.node()).isEmpty();
    assertThat(plan.evaluate(BASE)).isEmpty();
    assertThat(plan.toolkitVariables())
        .containsEntry("SM_HOSTS", "[\"algo-1\"]")
        .containsEntry("SM_NUM_GPUS", "0")
        .containsEntry("SM_CHANNEL_MODEL", "/opt/ml/input/data/model");
  }

  @Test
  void train_eightGpusOfWhichTwoEvaluate_splitsThem() throws IOException {
    HostPlan plan =
        plan(
            contract(
                "algo-1",
                "[\"algo-1\"]",
                Map.of(),
                Map.of(
                    ContainerContract.TRAIN_GPUS, "auto",
                    ContainerContract.EVAL_GPUS, "6-7",
                    ContainerContract.EVAL_EVERY, "100")),
            8,
            Optional.empty());

    assertThat(plan.train()).endsWith("--gpus", "0,1,2,3,4,5");
    assertThat(plan.evaluationVariables()).containsEntry("CUDA_VISIBLE_DEVICES", "6,7");
    assertThat(plan.evaluate(Path.of("/r")))
        .contains(
            List.of(
                "eval",
                "watch",
                "/r",
                "--every",
                "100",
                "--output",
                "/opt/ml/output/data/evaluations"));
  }

  @Test
  void manyHosts_inTheOrderOfNumbers_joinTheFirst() throws IOException {
    String hosts = "[\"algo-1\",\"algo-10\",\"algo-2\"]";
    ContainerContract last = contract("algo-10", hosts, Map.of(), Map.of());

    assertThat(last.hosts()).containsExactly("algo-1", "algo-2", "algo-10");
    assertThat(last.coordinates()).isFalse();
    assertThat(plan(last, 8, Optional.empty()).node().orElseThrow())
        .containsSubsequence("--name", "algo-10", "--address", "10.0.0.7")
        .containsSubsequence("--seed", "10.0.0.1:7400", "--gpus", "auto");
    assertThat(plan(contract("algo-1", hosts, Map.of(), Map.of()), 8, Optional.empty()).train())
        .containsSubsequence("--cluster", "--address", "10.0.0.7", "--port", "7400");
  }

  @Test
  void train_copyOfAnEarlierContainer_continuesIt() throws IOException {
    HostPlan plan =
        plan(
            contract(
                "algo-1",
                "[\"algo-1\"]",
                Map.of("run.sync", "s3://b/j/runs", "run.sync_endpoint", "http://localhost:1"),
                Map.of()),
            0,
            Optional.of("s3://b/j/runs/run-1"));

    assertThat(plan.train())
        .containsExactly(
            "train", "--resume", "s3://b/j/runs/run-1", "--s3-endpoint", "http://localhost:1");
  }

  @Test
  void parse_variablesOfTheToolkit_override() throws IOException {
    ContainerContract contract =
        contract(
            "algo-1",
            "[\"algo-1\"]",
            Map.of(),
            Map.of("SM_HOSTS", "[\"a\",\"b\"]", "SM_CURRENT_HOST", "b", "OTHER", "x"));

    assertThat(contract.host()).isEqualTo("b");
    assertThat(contract.hosts()).containsExactly("a", "b");
    assertThat(contract.variables()).doesNotContainKey("OTHER");
  }

  @Test
  void parse_filesThatAreNotSageMakers_areRefused() {
    assertThatThrownBy(() -> ContainerContract.parse("{", "{}", "", Map.of()))
        .hasMessageStartingWith("resourceconfig.json is not what SageMaker writes");
    assertThatThrownBy(() -> contract("algo-3", "[\"algo-1\"]", Map.of(), Map.of()))
        .hasMessageContaining("current_host algo-3 must be one of hosts [algo-1]");
    assertThatThrownBy(
            () ->
                ContainerContract.parse(
                    "{\"current_host\":\"a\",\"hosts\":[\"a\"]}", "{}", "", Map.of()))
        .hasMessageContaining("not submitted by troupe sagemaker submit");
  }

  @ParameterizedTest
  @MethodSource("seeds")
  void hyperparameters_anyConfiguration_comeBackWhole(long seed) {
    Random random = new Random(seed);
    StringBuilder text = new StringBuilder("x");
    int length = random.nextInt(20_000);
    String[] alphabet = {"a", "\n", "\"", "\\", "\u0001", "é", "\ud83d\ude00", "key: value "};
    while (text.length() < length) {
      text.append(alphabet[random.nextInt(alphabet.length)]);
    }
    JobParameters parameters =
        new JobParameters(text.toString(), Map.of("training.steps", "20", "tags", "[a, b]"));

    Map<String, String> sent = new HashMap<>(parameters.hyperparameters());

    assertThat(sent.values())
        .allSatisfy(
            value -> assertThat(value).hasSizeLessThanOrEqualTo(2_500).doesNotContain("\n"));
    assertThat(JobParameters.parse(sent)).isEqualTo(parameters);
  }
}
