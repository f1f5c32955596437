package io.troupe.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.troupe.config.binding.ConfigurationException;
import io.troupe.config.binding.ConfigurationFile;
import io.troupe.config.binding.ResolvedConfig;
import io.troupe.config.plan.Plan;
import io.troupe.config.policy.PolicySection;
import io.troupe.core.advantage.Baseline;
import io.troupe.core.loss.Correction;
import io.troupe.core.loss.Distillation;
import io.troupe.core.loss.KlEstimator;
import io.troupe.core.loss.LossSettings;
import io.troupe.core.loss.Objective;
import io.troupe.core.loss.SequenceMask;
import io.troupe.core.outage.OutageLimits;
import io.troupe.core.prompt.PromptSampling;
import io.troupe.core.rollout.GroupSize;
import io.troupe.core.rollout.StalePolicy;
import io.troupe.core.run.RunLimits;
import io.troupe.engine.SamplingSettings;
import io.troupe.engine.train.OptimizerSettings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class RunConfigTest {
  private static final String SMALLEST =
      """
      task: {name: arithmetic}
      rollout: {max_tokens: 4}
      training: {steps: 10, groups_per_step: 8, learning_rate: 3e-4}
      """;
  private static final TaskFacts FACTS = new TaskFacts(8000, 0, 2000, 6, 15);

  private static ResolvedConfig<RunConfig> resolve(String... overrides) {
    return ConfigurationFile.bind(
        RunConfig.class, Path.of("run.yaml"), SMALLEST, List.of(overrides));
  }

  private static List<String> refusals(String... overrides) {
    ConfigurationException refused =
        catchThrowableOfType(
            ConfigurationException.class, () -> Plan.of(resolve(overrides), FACTS));
    assertThat(refused).as("the configuration should be refused").isNotNull();
    return refused.violations().stream().map(v -> v.key() + ": " + v.rule()).toList();
  }

  private static String checkpoint(String given) {
    RunConfig config =
        resolve(
                "policy.engine=pretrained",
                "policy.context_length=16",
                "policy.checkpoint=" + given)
            .config();
    return ((PolicySection.Pretrained) config.policy()).checkpoint();
  }

  @ParameterizedTest
  @ValueSource(doubles = {-0.5, 0.25, 17})
  void targetAndMark_ofRewards_areAnyNumbers(double number) {
    RunConfig config =
        resolve(
                "evaluation.target=" + number,
                "evaluation.target_of=reward",
                "verifier.pass_reward=" + number)
            .config();
    assertThat(config.limits(FACTS).schedule().evaluationTarget()).isEqualTo(number);
    assertThat(config.limits(FACTS).groups().mark().reward()).isEqualTo(number);
  }

  /** The metrics {@code eval_reward} and {@code eval_NAME_reward} have these names. */
  @ParameterizedTest
  @ValueSource(strings = {"reward", "math_reward"})
  void evaluations_nameOfAMeanReward_isRefused(String name) {
    String text = SMALLEST + "evaluations: [{name: %s, every: 1}]\n".formatted(name);
    assertThatThrownBy(
            () -> ConfigurationFile.bind(RunConfig.class, Path.of("run.yaml"), text, List.of()))
        .hasMessageContaining("evaluations[0].name: must be no reward");
  }

  @Test
  void checkpoint_folderNameOrAddress_isReadAsWhatItIs() {
    assertThat(checkpoint("Qwen/Qwen3-0.6B")).isEqualTo("Qwen/Qwen3-0.6B");
    assertThat(checkpoint("Qwen/Qwen3-0.6B@v1.0")).isEqualTo("Qwen/Qwen3-0.6B@v1.0");
    assertThat(checkpoint("s3://bucket/models/a")).isEqualTo("s3://bucket/models/a");
    assertThat(checkpoint("src/main")).isEqualTo(Path.of("src/main").toAbsolutePath().toString());
    assertThat(checkpoint("./own/model"))
        .isEqualTo(Path.of("own/model").toAbsolutePath().toString());
    assertThat(checkpoint("/models/own")).isEqualTo("/models/own");
  }

  @Test
  void stop_emptyLines_endCompletions() {
    String text = SMALLEST.replace("max_tokens: 4}", "max_tokens: 4, stop: [\"\\n\\n\", \" \"]}");
    ResolvedConfig<RunConfig> read =
        ConfigurationFile.bind(RunConfig.class, Path.of("run.yaml"), text, List.of());
    assertThat(read.config().rollout().stop()).containsExactly("\n\n", " ");
    assertThatThrownBy(() -> resolve("rollout.stop=[\"\"]"))
        .hasMessageContaining("must be a text, given \"\"");
    String wrong = SMALLEST.replace("max_tokens: 4}", "max_tokens: 4, lease_timeout: \"\\n\\n\"}");
    assertThatThrownBy(
            () -> ConfigurationFile.bind(RunConfig.class, Path.of("run.yaml"), wrong, List.of()))
        .hasMessageContaining("given \"\\n\\n\"");
  }

  @Test
  void conversions_ofTheDefaults_areTheSettingsOfTheOtherModules() {
    RunConfig config = resolve().config();

    assertThat(config.lossSettings())
        .isEqualTo(
            new LossSettings(
                new Objective.Grpo(),
                0.2,
                0.28,
                new Correction.TruncatedImportance(2),
                0,
                KlEstimator.K3,
                1));
    assertThat(config.training().optimizer().settings(0.5))
        .isEqualTo(new OptimizerSettings(0.5, 0.9, 0.95, 1e-8, 0, 1));
    assertThat(config.warmupOptimisation().learningRate()).isEqualTo(1e-3);
    assertThat(config.sampling()).isEqualTo(new SamplingSettings(1, 4));
    assertThat(config.evaluationSampling()).isEqualTo(new SamplingSettings(0, 4));
    assertThat(config.limits(FACTS))
        .isEqualTo(
            new RunLimits(
                new RunLimits.Prompts(8000, 1, PromptSampling.UNIFORM, 3),
                new RunLimits.Groups(16, 64, 60_000, true, false, 400),
                new RunLimits.Step(8, 1, StalePolicy.MASK, false),
                new RunLimits.Schedule(10, 0, 50, 10, 0, 20_000),
                OutageLimits.DEFAULT));
    assertThat(config.training().optimizer().learningRates().at(1, 10)).isEqualTo(3e-4);
  }

  @ParameterizedTest
  @CsvSource({"auto, 0, false", "auto, 1, true", "none, 1, false", "truncated_importance, 0, true"})
  void lossSettings_correction_followsTheStalenessOnlyWhenAuto(
      String correction, int maxStaleness, boolean corrected) {
    LossSettings loss =
        resolve("loss.correction=" + correction, "training.max_staleness=" + maxStaleness)
            .config()
            .lossSettings();

    assertThat(loss.offPolicy().correction() instanceof Correction.TruncatedImportance)
        .isEqualTo(corrected);
  }

  @Test
  void lossSettings_correction_isTheOneNamedWithItsOwnNumbers() {
    assertThat(correction("icepop")).isEqualTo(new Correction.IcePop(0.5, 5));
    assertThat(correction("decoupled"))
        .isEqualTo(new Correction.Decoupled(5, Correction.OverCap.MASKED));
    assertThat(correction("decoupled_truncated"))
        .isEqualTo(new Correction.Decoupled(5, Correction.OverCap.TRUNCATED));
    assertThat(correction("truncated_importance")).isEqualTo(new Correction.TruncatedImportance(2));
  }

  @Test
  void clipDual_goesWithTheObjectivesThatClipARatioAlone() {
    assertThat(resolve("loss.clip_dual=3").config().lossSettings().clip().dual()).isEqualTo(3);
    assertThat(refusals("loss.clip_dual=3", "loss.objective=sapo"))
        .containsExactly(
            "loss.clip_dual: must be left out with objective cispo, sapo, gmpo, dppo or own, which"
                + " bound a token's weight in their own way");
    assertThat(refusals("loss.clip_dual=1"))
        .containsExactly("loss.clip_dual: must be 0, which means without, or greater than 1");
  }

  private static Correction correction(String name) {
    return resolve("loss.correction=" + name).config().lossSettings().offPolicy().correction();
  }

  @ParameterizedTest
  @CsvSource({
    "grpo, 0.2, 0.28",
    "dr_grpo, 0.2, 0.28",
    "dapo, 0.2, 0.28",
    "gspo, 3e-4, 4e-4",
    "cispo, 1, 4"
  })
  void lossSettings_clip_isTheObjectivesOwnUnlessGiven(String objective, double low, double high) {
    LossSettings own = resolve("loss.objective=" + objective).config().lossSettings();
    assertThat(own.clip().low()).isEqualTo(low);
    assertThat(own.clip().high()).isEqualTo(high);
    LossSettings given =
        resolve("loss.objective=" + objective, "loss.clip_low=0", "loss.clip_high=0.05")
            .config()
            .lossSettings();
    assertThat(given.clip().low()).isZero();
    assertThat(given.clip().high()).isEqualTo(0.05);
  }

  @ParameterizedTest
  @CsvSource({"gspo", "cispo"})
  void lossSettings_objectiveThatCorrectsItself_hasNoCorrectionByDefault(String objective) {
    assertThat(
            resolve("loss.objective=" + objective).config().lossSettings().offPolicy().correction())
        .isEqualTo(new Correction.None());
  }

  @Test
  void groupSize_adaptive_growsByCompletionsPerPromptUpToTheMost() {
    assertThat(
            resolve(
                    "rollout.completions_per_prompt=8",
                    "rollout.adaptive.right=2",
                    "rollout.adaptive.wrong=1",
                    "rollout.adaptive.max_completions=32")
                .config()
                .rollout()
                .groupSize())
        .isEqualTo(new GroupSize(8, 2, 1, 32));
    assertThat(resolve("rollout.completions_per_prompt=8").config().rollout().groupSize())
        .isEqualTo(GroupSize.fixed(8));
  }

  @Test
  void plan_adaptiveGroupsWithoutRoom_areRefused() {
    assertThat(
            refusals(
                "rollout.completions_per_prompt=8",
                "rollout.adaptive.right=2",
                "rollout.adaptive.max_completions=8"))
        .singleElement()
        .asString()
        .startsWith("rollout.adaptive.max_completions: must exceed completions_per_prompt (8)");
    assertThat(refusals("rollout.adaptive.right=2"))
        .anyMatch(each -> each.contains("exactly when right or wrong is"));
    assertThat(
            refusals(
                "rollout.adaptive.right=30",
                "rollout.adaptive.wrong=30",
                "rollout.adaptive.max_completions=50"))
        .singleElement()
        .asString()
        .startsWith("rollout.adaptive.right: must leave room for wrong (30)");
  }

  @Test
  void lossSettings_maskBaselineAndTeacher_areThoseNamed() {
    LossSettings loss =
        resolve(
                "loss.sequence_mask=outlier",
                "loss.baseline=leave_one_out",
                "loss.kl_in=reward",
                "loss.kl_coefficient=0.1",
                "distillation.divergence=jsd",
                "distillation.policy_coefficient=0.5",
                "distillation.top_k=7",
                "supervised.coefficient=0.25",
                "supervised.batch=3")
            .config()
            .lossSettings();
    assertThat(loss.offPolicy().mask()).isEqualTo(new SequenceMask.Outlier(1e-4, 100));
    assertThat(loss.baseline()).isEqualTo(Baseline.LEAVE_ONE_OUT);
    assertThat(loss.penalisesReward()).isTrue();
    assertThat(loss.penalisesLoss()).isFalse();
    assertThat(loss.shares().distillation()).isEqualTo(new Distillation.Jsd(0.1, 0.9, 7));
    assertThat(loss.shares().policy()).isEqualTo(0.5);
    assertThat(loss.shares().supervised()).isEqualTo(0.25);
  }

  @Test
  void plan_gspoWithATokensClip_isRefused() {
    assertThat(refusals("loss.objective=gspo", "loss.clip_low=0.2"))
        .containsExactly(
            "loss.clip_low: must not exceed 0.1 with objective gspo: it clips a sequence's mean"
                + " ratio, not a token's");
  }

  @Test
  void plan_correctionOfAnObjectiveThatNeedsNone_isRefused() {
    assertThat(refusals("loss.objective=cispo", "loss.correction=icepop"))
        .containsExactly(
            "loss.correction: must be auto or none with objective gspo, cispo, sapo, gmpo, dppo or"
                + " own, whose ratio is to the sampler itself");
  }

  @Test
  void plan_k1InTheLoss_isNotedAsWithoutEffect() {
    assertThat(Plan.of(resolve("loss.kl_estimator=k1", "loss.kl_coefficient=0.1"), FACTS).notes())
        .contains(
            "loss.kl_estimator is k1 in the loss: its gradient is 0 in expectation, so the penalty"
                + " only adds noise; take k2 or k3, or kl_in: reward");
  }

  @ParameterizedTest
  @CsvSource({"0, 4", "9, 9"})
  void lossSettings_drGrpoConstant_isTheTokenLimitUnlessGiven(double given, double constant) {
    LossSettings loss =
        resolve("loss.objective=dr_grpo", "loss.dr_grpo_constant=" + given).config().lossSettings();

    assertThat(loss.objective()).isEqualTo(new Objective.DrGrpo(constant));
  }

  @ParameterizedTest
  @CsvSource({"0, 1, true", "0, 2, false", "1, 1, false"})
  void lockStep_needsOneWorkerAndNoStaleness(int maxStaleness, int workers, boolean lockStep) {
    RunConfig config =
        resolve("training.max_staleness=" + maxStaleness, "rollout.workers=" + workers).config();

    assertThat(config.lockStep()).isEqualTo(lockStep);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "policy.kv_heads=3 | policy.heads: must be a multiple of kv_heads (3)",
        "policy.head_dim=7 | policy.head_dim: must be even",
        "policy.micro_batch_tokens=15"
            + " | policy.micro_batch_tokens: must hold one sequence of context_length (16)",
        "rollout.max_tokens=16"
            + " | rollout.max_tokens: must leave room for a prompt in policy.context_length (16)",
        "evaluation.max_tokens=16 | evaluation.max_tokens: must leave room for a prompt in"
            + " policy.context_length (16)",
        "rollout.max_tokens=11 | policy.context_length: must hold the longest prompt (6 tokens) and"
            + " its longest completion (11)",
        "evaluation.max_tokens=11 | policy.context_length: must hold the longest prompt (6 tokens)"
            + " and its longest completion (11)",
        "evaluation.target=1.5 | evaluation.target: must be from 0 to 1 for a share that passes",
        "evaluation.target_of=math"
            + " | evaluation.target_of: must be a share that passes (held_out), or a mean reward"
            + " (reward)",
        "verifier.pass_reward=1e999 | verifier.pass_reward: must be a number such as 0.5 or 1e-3",
        "rollout.groups_per_request=65"
            + " | rollout.groups_per_request: must not exceed max_concurrent_groups (64)",
        "rollout.completions_per_prompt=1"
            + " | rollout.completions_per_prompt: must be from 2 to 4096",
        "rollout.weights=nccl | rollout.weights: (nccl) is for inference servers that get merged"
            + " weights",
        "rollout.temperature=0 | rollout.temperature: must be from 0 (excluded) to 100",
        "loss.clip_high=-0.5"
            + " | loss.clip_high: must be -1, the objective's own, or 0 or greater",
        "loss.sequence_mask_high=0.5"
            + " | loss.sequence_mask_high: must be 0, the mask's own, or 1 or greater",
        "supervised.batch=4" + " | supervised.batch: must be above 0 exactly when coefficient is",
        "verifier.timeout=60s | verifier.timeout: must be below rollout.lease_timeout, which spans"
            + " sampling and verification",
        "training.schedule_warmup_steps=10 | training.schedule_warmup_steps: must be below steps"
            + " (10), or the peak is never reached",
        "training.groups_per_step=8001"
            + " | training.groups_per_step: must not exceed the task's training prompts (8000)",
        "warmup.examples=8001"
            + " | warmup.examples: must not exceed the task's training prompts (8000)",
        "task.held_out_share=0"
            + " | evaluation.every: needs prompts to evaluate on, and task.held_out_share is 0",
        "task.max=1000 | task.max: makes 1,002,001 pairs, and at most 1,000,000 fit",
        "task.operation=division"
            + " | task.operation: must be one of addition, subtraction, multiplication",
        "task.file=x | task.file: belongs to name: gsm8k or 12 others, and arithmetic was chosen",
        "policy.token_delay=1ms | policy.token_delay: belongs to engine: toy, and djl was chosen",
      })
  void plan_impossibleCombination_isRefused(String override, String refusal) {
    assertThat(refusals(override)).containsExactly(refusal);
  }

  @ParameterizedTest
  @ValueSource(strings = {"toy", "djl", "pretrained"})
  void load_nothingButTheEngine_namesWhatIsMissing(String engine, @TempDir Path folder)
      throws IOException {
    Path file = folder.resolve("least.yaml");
    Files.writeString(file, "task: {name: arithmetic}\npolicy: {engine: %s}\n".formatted(engine));

    assertThatThrownBy(() -> RunConfig.load(file, List.of()))
        .isInstanceOf(ConfigurationException.class)
        .hasMessageContaining("rollout.max_tokens: is required");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "rollout.sidecars.restart_for_weights=true|rollout.publish: (adapters) is loaded while a"
            + " server runs, which is not started again for it",
        "policy.lora.rank=513|policy.lora.rank: must not exceed 512 with rollout.publish: adapters,"
            + " the highest rank that vLLM takes"
      })
  void plan_adaptersThatServersCannotHave_areRefused(String override, String refusal) {
    assertThat(
            refusals(
                "policy.engine=pretrained",
                "policy.checkpoint=nowhere",
                "policy.context_length=64",
                "policy.lora.rank=8",
                "rollout.publish=adapters",
                "rollout.sidecars.count=1",
                "rollout.sidecars.server=vllm",
                override))
        .containsExactly(refusal);
  }

  /** The nodes' servers would get what travels to nodes. */
  @Test
  void start_adaptersInACluster_areForServersThatTheCoordinatorDrives() {
    adaptersOver("rollout.endpoints.urls=[http://10.0.0.7:8000]")
        .check((config, rules) -> config.checkStart(true, rules));
    assertThatThrownBy(
            () ->
                adaptersOver("rollout.sidecars.count=1")
                    .check((config, rules) -> config.checkStart(true, rules)))
        .hasMessageContaining("must be merged in a run with --cluster whose nodes start servers");
  }

  private static ResolvedConfig<RunConfig> adaptersOver(String servers) {
    return resolve(
        "policy.engine=pretrained",
        "policy.checkpoint=nowhere",
        "policy.context_length=64",
        "policy.lora.rank=8",
        "rollout.publish=adapters",
        servers);
  }

  @Test
  void plan_leaseShorterThanTheToyEngineNeeds_isRefused() {
    assertThat(refusals("policy.engine=toy", "policy.token_delay=2s", "rollout.lease_timeout=8s"))
        .containsExactly(
            "rollout.lease_timeout: must exceed policy.token_delay × rollout.max_tokens (8000 ms),"
                + " or no group ever ends");
  }

  @Test
  void plan_nothingToImitate_isRefused() {
    TaskFacts facts = new TaskFacts(8000, 5, 2000, 6, 15);
    assertThatThrownBy(() -> Plan.of(resolve("warmup.steps=1"), facts))
        .hasMessageContaining(
            "warmup.steps: needs a solution to imitate of every training prompt, and 5 of 8000 have"
                + " none");
    assertThatThrownBy(
            () -> Plan.of(resolve("supervised.batch=4", "supervised.coefficient=1"), facts))
        .hasMessageContaining("supervised.batch: needs a solution to imitate");
    assertThat(Plan.of(resolve("warmup.steps=0"), facts)).isNotNull();
  }

  @Test
  void plan_ruleOfTheTask_namesTheLineOfTheKey() {
    ConfigurationException refused =
        catchThrowableOfType(
            ConfigurationException.class, () -> Plan.of(resolve(), new TaskFacts(7, 0, 2, 6, 15)));

    assertThat(refused)
        .hasMessage(
            "run.yaml:3: training.groups_per_step: must not exceed the task's training prompts (7),"
                + " given 8; lower it, or enlarge the task");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "verifier: turns | must not have turns without an environment, which alone rewards calls",
        "verifier: numeric, over: trace | must not have over: trace where an episode is one answer",
      })
  void bind_rewardOfTurnsThatAnAnswerHasNot_isRefused(String reward, String rule) {
    String text = SMALLEST + "verifier: {rewards: [{source: arithmetic, %s}]}\n".formatted(reward);
    assertThatThrownBy(
            () -> ConfigurationFile.bind(RunConfig.class, Path.of("run.yaml"), text, List.of()))
        .isInstanceOf(ConfigurationException.class)
        .hasMessageContaining("verifier.rewards: " + rule);
    String tools = "episode: {environment: {name: calculator}}\npolicy: {engine: djl}\n";
    assertThat(
            ConfigurationFile.bind(RunConfig.class, Path.of("run.yaml"), text + tools, List.of())
                .config()
                .verifier()
                .rewards())
        .hasSize(1);
  }

  @Test
  void start_placementThatNobodyCarriesOut_isRefused() {
    ResolvedConfig<RunConfig> placed =
        resolve(
            "placement.nodes=2",
            "placement.trainer_ranks=4",
            "placement.rollout_workers=10",
            "placement.reference_workers=2");
    ConfigurationException refused =
        catchThrowableOfType(
            ConfigurationException.class,
            () -> placed.check((config, rules) -> config.checkStart(false, rules)));
    assertThat(refused.violations())
        .extracting(violation -> violation.key())
        .containsExactlyInAnyOrder("placement.nodes", "placement.reference_workers");

    resolve("placement.nodes=2", "placement.trainer_ranks=4", "placement.rollout_workers=12")
        .check((config, rules) -> config.checkStart(true, rules));
    resolve("placement.trainer_ranks=4").check((config, rules) -> config.checkStart(false, rules));
  }

  @Test
  void load_coordinatorWithoutAGpuWhereItsTrainerNeedsOne_isRefused() {
    for (String ranks : List.of("threads", "children")) {
      assertThatThrownBy(
              () ->
                  resolve(
                      "placement.nodes=2",
                      "placement.ranks_as=" + ranks,
                      "placement.coordinator_gpu=false"))
          .hasMessageContaining("placement.coordinator_gpu: must be true unless the nodes start")
          .hasMessageContaining("set placement.ranks_as to nodes, or leave coordinator_gpu out");
    }
    assertThat(
            resolve(
                    "placement.nodes=2",
                    "placement.ranks_as=nodes",
                    "placement.coordinator_gpu=false")
                .config()
                .placement()
                .coordinatorGpus())
        .isZero();
  }

  @Test
  void bind_watcherWithoutAPlaceOrPrompts_isRefused() {
    assertThatThrownBy(() -> resolve("placement.nodes=2", "placement.evaluation_gpus=1"))
        .hasMessageContaining("placement.evaluation_gpus: must be 0 in a run over several hosts")
        .hasMessageContaining("run `troupe eval watch RUN --every N -o DIR` on a host");
    assertThatThrownBy(
            () ->
                resolve(
                    "placement.nodes=1",
                    "placement.gpus_per_node=2",
                    "placement.evaluation_gpus=1"))
        .hasMessageContaining(
            "the watcher's GPU, 1 trainer ranks, 0 reference workers and 1 rollout workers of 1"
                + " GPUs do not fit on 1 nodes of 2 GPUs")
        .hasMessageContaining("set placement.evaluation_gpus to 0, or give it 3 GPUs");
    assertThatThrownBy(
            () ->
                resolve(
                    "placement.evaluation_gpus=1",
                    "task.held_out_share=0",
                    "evaluation.every=0",
                    "evaluation.watch_file="))
        .hasMessageContaining("name a file of tasks in evaluation.watch_file");
  }
}
