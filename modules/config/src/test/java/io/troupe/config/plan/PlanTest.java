package io.troupe.config.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.config.RunConfig;
import io.troupe.config.TaskFacts;
import io.troupe.config.binding.ConfigurationException;
import io.troupe.config.binding.ConfigurationFile;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class PlanTest {
  private static final Path GOLDEN = Path.of("src/test/resources/plan.txt");
  private static final TaskFacts FACTS = new TaskFacts(8000, 0, 2000, 6, 15);
  private static final String YAML =
      """
      task:
        name: arithmetic
      warmup:
        steps: 500
      rollout:
        max_tokens: 5
        max_concurrent_groups: 80
      training:
        steps: 200
        groups_per_step: 32
        learning_rate: 3e-4
      loss:
        kl_coefficient: 0.01
        importance_cap: 4
      """;

  private static Plan plan(String... overrides) {
    return Plan.of(
        ConfigurationFile.bind(RunConfig.class, Path.of("run.yaml"), YAML, List.of(overrides)),
        FACTS);
  }

  @Test
  void text_ofOneRun_isTheGoldenFile() throws IOException {
    String text = plan("run.seed=3", "training.epochs=1").text();
    if (Boolean.getBoolean("troupe.docs.update")) {
      Files.writeString(GOLDEN, text);
    }

    assertThat(text)
        .as("the plan differs from %s; -Dtroupe.docs.update=true rewrites it", GOLDEN)
        .isEqualTo(Files.readString(GOLDEN, StandardCharsets.UTF_8));
  }

  @Test
  void text_ofTwoNodes_drawsThePlacement() {
    String text =
        plan("placement.nodes=2", "placement.trainer_ranks=3", "placement.tensor_parallel=2")
            .text();

    assertThat(text)
        .contains(
            """

            placement: 2 nodes of 8 GPUs
              gpu        0  1  2  3  4  5  6  7
              node 0     T0 T1 T2 -  W0 W0 W1 W1
              node 1     W2 W2 W3 W3 W4 W4 W5 W5
              trainer    T: 3 data-parallel ranks, threads of the coordinator's JVM, which share its first GPU; AdamW's state in 3 shards
              rollout    W: 6 workers (data-parallel), each over 2 GPUs (tensor-parallel)
              verifiers  4 processes on each node's CPUs
              idle       node 0 GPU 3 (a rollout worker takes 2 on one node: placement.trainer_ranks could be 4)
            """);
  }

  @Test
  void text_ofRanksThatAreProcesses_countsTheirCopiesOrSaysThatThereAreNone() {
    String[] ranks = {
      "placement.nodes=2", "placement.trainer_ranks=3", "placement.ranks_as=nodes",
    };
    String[] without = Arrays.copyOf(ranks, ranks.length + 1);
    without[ranks.length] = "placement.rank_copies=false";

    assertThat(plan(ranks).text())
        .containsPattern("copies +\\d+[.]\\d [KM]iB of its host's memory for each trainer rank");
    assertThat(plan(without).text())
        .containsPattern("copies +none: a lost rank costs the steps since the last saved state")
        .containsPattern("versions +\\d+[.]\\d [KM]iB of the coordinator's host's memory");
  }

  @Test
  void load_placementWithoutRoom_isRefusedWithWhatToChange() {
    assertThatThrownBy(() -> plan("placement.nodes=1", "placement.trainer_ranks=8"))
        .hasMessageContaining("placement.nodes: must have room for all roles")
        .hasMessageContaining("set placement.trainer_ranks to 7 or less, or give it 2 nodes");
  }

  @Test
  void capacities_ofOneRun_areExact() {
    assertThat(plan().capacities())
        .isEqualTo(
            new Capacities(
                8000, 2000, 500, 32, 512, 512 * 11, 64, 64, 16, 1, 1, 200, 102_400, 0.8));
  }

  @Test
  void memory_ofTheDefaultDecoder_isCountedByHand() {
    // Embedding 15·128; a layer: q and o 2·128·128, k and v 2·128·64, head norms 64,
    // feed-forward 3·128·256, norms 256; last norm 128.
    long layer = 32_768 + 16_384 + 64 + 98_304 + 256;
    long parameters = 1_920 + 2 * layer + 128;
    // 16 groups of 16 completions in slots of 16 tokens, the context, and as many slots again when
    // the cache has just grown; keys and values of 2 layers, 2 heads of 32.
    long cache = 2 * 16 * 16 * 16 * (2 * 2 * 2 * 32 * 4);

    // 5,632 tokens of a step; in a layer six numbers of 128, seven of 128, three of 64, four of
    // 256. The gradients of a micro-batch are beside their sum.
    long step =
        512 * 11 * (2 * (6 * 128 + 7 * 128 + 3 * 64 + 4 * 256) * 4 + 3 * 15 * 4) + 4 * parameters;
    long tensors = (16 + 2 * 4 + 4 + 4) * parameters + step + cache;

    assertThat(plan().memory())
        .containsExactly(
            new MemoryEstimate(
                new MemoryEstimate.Policy("Qwen3", parameters, parameters),
                new MemoryEstimate.Trainer(16 * parameters, step, 4 * parameters, 0),
                2 * 4 * parameters,
                new MemoryEstimate.Samplers(4 * parameters, 4 * parameters, cache),
                1 << 30,
                (tensors + 4 * parameters) / 20));
  }

  @Test
  void fitting_lessMemoryThanItTakes_isRefusedWithNeedAndKeys() {
    Plan plan = plan("policy.hidden=4096", "policy.layers=32", "policy.feed_forward=16384");
    long need = plan.memory().getFirst().total();

    assertThat(plan.fitting(need)).isSameAs(plan);
    assertThatThrownBy(() -> plan.fitting(16L << 30))
        .isInstanceOf(ConfigurationException.class)
        .hasMessageContaining("must fit in the memory that is free here, 16,384.0 MiB")
        .hasMessageContaining("this run takes %s".formatted(mebibytes(need)))
        .hasMessageContaining("train adapters (policy.lora.rank); ")
        .hasMessageContaining("evaluate afterwards (evaluation.every: 0)");
  }

  private static String mebibytes(long bytes) {
    return String.format(Locale.ROOT, "%,.1f MiB", bytes / (double) (1 << 20));
  }

  /** The change of a run's memory by recomputation and evaluation. */
  @Test
  void memory_recomputedWithoutEvaluations_isLess() {
    MemoryEstimate all = plan().memory().getFirst();
    MemoryEstimate less = plan("policy.recompute=layers", "evaluation.every=0").memory().getFirst();

    long tokens = 512 * 11;
    assertThat(all.trainer().step() - less.trainer().step())
        .as(
            "one attention, what goes into both layers, the feed-forward part of 2,048 rows, and"
                + " the gradients of a graph of all layers")
        .isEqualTo(
            4 * (tokens * (2 * 2880L - (1472 + 2 * 128)) - 2048 * 1408)
                + 4 * all.policy().parameters());
    assertThat(less.samplers().evaluator()).isZero();
  }

  @Test
  void memory_ofALimitedCache_isTheLimit() {
    long unlimited = plan().memory().getFirst().samplers().keysAndValues();
    long half = 16 * 16 * 16 / 2;

    assertThat(plan("policy.kv_tokens=" + half).memory().getFirst().samplers().keysAndValues())
        .isEqualTo(unlimited / 2);
    assertThat(plan("policy.kv_tokens=1000000").memory().getFirst().samplers().keysAndValues())
        .isEqualTo(unlimited);
    assertThat(plan("policy.precision=bfloat16").memory().getFirst().samplers().keysAndValues())
        .isEqualTo(unlimited / 2);
  }

  @Test
  void memory_ofAdapters_countsThemAlone() {
    Plan plan = plan("policy.lora.rank=4", "policy.lora.targets=[q_proj, down_proj]");
    long adapters = 2 * 4 * (128 + 128 + 128 + 256);

    MemoryEstimate memory = plan.memory().getFirst();

    assertThat(memory.policy().trained()).isEqualTo(adapters);
    assertThat(memory.trainer().weights())
        .isEqualTo(4 * memory.policy().parameters() + 16 * adapters);
    assertThat(plan.text()).contains("5,120 parameters of adapters");
  }

  @Test
  void memory_ofTheToyEngine_isNotEstimated() {
    assertThat(plan("policy.engine=toy").memory()).isEmpty();
  }

  @Test
  void json_holdsEveryValueWithItsOrigin() {
    Map<String, Object> json = plan("run.seed=3").json();

    assertThat(json)
        .containsKeys("file", "loss", "capacity", "data", "memory", "placement", "notes");
    assertThat(String.valueOf(json.get("values")))
        .contains(
            "{key=run.seed, value=3, origin=--set run.seed=3}",
            "{key=task.name, value=arithmetic, origin=run.yaml:2}",
            "{key=policy.engine, value=djl, origin=default}");
  }

  @Test
  void notes_severalRewardsUnderParts_areSaidToBeOnePart() {
    String rewards =
        """
        verifier:
          rewards:
            - {source: arithmetic, verifier: numeric, weight: 0.5}
            - {source: arithmetic, verifier: format, weight: 0.5}
        """;
    for (String baseline : List.of("parts_standardised", "standardised")) {
      Plan plan =
          Plan.of(
              ConfigurationFile.bind(
                  RunConfig.class,
                  Path.of("run.yaml"),
                  YAML + rewards,
                  List.of("loss.baseline=" + baseline, "loss.overlong_buffer=1")),
              FACTS);

      assertThat(plan.notes().stream().filter(note -> note.contains("GDPO")).count())
          .isEqualTo(baseline.equals("parts_standardised") ? 1 : 0);
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "training.max_staleness=0 | lock-step: on the CPU, a run with this seed repeats bit for"
            + " bit, resumed or not",
        "rollout.max_concurrent_groups=16 | rollout.max_concurrent_groups (16) is below a batch, so"
            + " a batch comes in several waves",
        "training.max_filtered_groups=31 | training.max_filtered_groups (31) is below a batch: bad"
            + " luck alone may end the run",
        "training.max_staleness=300 | 9632 groups may be outstanding and there are 8000 training"
            + " prompts: the same prompt can be in two of them",
        "loss.correction=none | loss.importance_cap has no effect: the loss has no importance"
            + " weights",
        "loss.correction=none | loss.correction is none: tokens of older weights are trained on"
            + " with the plain ratio",
        "training.schedule_floor=0.1 | training.schedule_floor has no effect: training.schedule is"
            + " constant",
        "evaluation.prompts=500 | !evaluation.prompts has no effect: evaluation.every is 0",
      })
  void notes_surprisingSetting_getsASentence(String override, String note) {
    List<String> notes = plan(override).notes();

    if (note.startsWith("!")) {
      assertThat(notes).doesNotContain(note.substring(1));
    } else {
      assertThat(notes).contains(note);
    }
  }
}
