package io.troupe.run.compose;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.troupe.chat.ChatTemplate;
import io.troupe.config.RunConfig;
import io.troupe.config.binding.ConfigurationException;
import io.troupe.config.binding.ConfigurationFile;
import io.troupe.config.binding.ResolvedConfig;
import io.troupe.config.plan.Plan;
import io.troupe.core.prompt.Prompt;
import io.troupe.engine.PolicyEngines;
import io.troupe.engine.djl.torch.TorchReport;
import io.troupe.run.session.ResumePoint;
import io.troupe.run.session.RunBanner;
import io.troupe.run.task.DataSummary;
import io.troupe.run.task.TaskLoader;
import io.troupe.store.checkpoint.Checkpoints;
import io.troupe.store.folder.RunFolder;
import io.troupe.tasks.PromptTemplate;
import io.troupe.tasks.rows.TaskDataException;
import io.troupe.verifiers.VerifierSpec;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The parts of a run whose policy starts from a checkpoint. */
final class CompositionTest {
  private static final Path TINY =
      Path.of("../engine-djl/src/test/resources/io/troupe/engine/djl/parity/qwen3-tied");

  @TempDir private Path folder;

  private RunConfig config(Path checkpoint, String more, String... changes) {
    String sums = "{name: arithmetic, min: 0, max: 9, held_out_share: 0.2}";
    return of(sums, checkpoint, more, changes);
  }

  private RunConfig of(String task, Path checkpoint, String more, String... changes) {
    String text =
        """
        task: %s
        policy: {engine: pretrained, checkpoint: %s, context_length: 32}
        rollout: {completions_per_prompt: 4, max_tokens: 3}
        training: {steps: 2, groups_per_step: 4, learning_rate: 1e-4}
        """
            .formatted(task, checkpoint.toAbsolutePath());
    return ConfigurationFile.bind(
            RunConfig.class, folder.resolve("run.yaml"), text + more, List.of(changes))
        .config();
  }

  private static void copy(Path from, Path to) throws IOException {
    try (Stream<Path> files = Files.list(from)) {
      for (Path file : files.toList()) {
        Files.copy(file, to.resolve(String.valueOf(file.getFileName())));
      }
    }
  }

  @Test
  void of_dataSetsToImitate_hasTheRowsOfTheirSourcesAndADigestOfThem() throws IOException {
    Path rows = folder.resolve("rows.jsonl");
    String more =
        "supervised: {coefficient: 0.5, batch: 2, datasets: [{file: rows.jsonl, sources: [sums]}]}";
    String text =
        """
        {"prompt": "1+1=", "completion": "2", "source": "sums"}
        {"prompt": "1+2=", "completion": "4", "source": "other"}
        {"prompt": "2+2=", "completion": "4", "source": "sums"}
        {"prompt": "3+2=", "completion": "5", "source": "sums"}
        """;
    Files.writeString(rows, text);
    Composition composition = Composition.of(config(TINY, more));
    assertThat(composition.task().imitated())
        .extracting(example -> composition.tokenizer().decode(example.prompt()))
        .containsExactly("1+1=", "2+2=", "3+2=");
    assertThat(composition.pool().imitated(2, 2)).hasSize(1);

    Files.writeString(rows, text.replace("\"5\"", "\"6\""));
    Composition changed = Composition.of(config(TINY, more));
    assertThat(InputDigests.of(changed).get("data"))
        .isNotEqualTo(InputDigests.of(composition).get("data"));

    Files.writeString(rows, text.replace("sums", "sum"));
    assertThatThrownBy(() -> Composition.of(config(TINY, more)))
        .isInstanceOf(TaskDataException.class);
  }

  @Test
  void of_installedPyTorchThatIsNotThere_isRefusedWithTheNextCommand() {
    RunConfig config = config(TINY, "", "policy.torch=" + folder.resolve("no-environment"));
    assertThatThrownBy(() -> Composition.of(config))
        .isInstanceOf(UnsupportedPolicyException.class)
        .hasMessageStartingWith("policy.torch: " + folder.resolve("no-environment"))
        .hasMessageContaining("there is no such place on this machine")
        .hasMessageContaining("troupe torch list");
  }

  @Test
  void of_aRunWhoseFirstCheckpointIsGone_takesItsOwnNewest() throws IOException {
    RunConfig gone = config(folder.resolve("gone"), "");
    assertThatThrownBy(() -> Composition.of(gone, folder))
        .hasMessageContaining("gone is gone, and the run has no checkpoint of its own yet");
    Checkpoints.open(folder)
        .save(3, step -> copy(TINY, Files.createDirectory(step.resolve("policy"))));

    Composition resumed = Composition.of(gone, folder);

    assertThat(resumed.start())
        .isInstanceOfSatisfying(
            Composition.Start.Stored.class,
            stored ->
                assertThat(stored.checkpoint().directory())
                    .isEqualTo(folder.resolve("step3").resolve("policy")));
    assertThat(Composition.of(config(TINY, ""), folder).facts()).isEqualTo(resumed.facts());
  }

  /** A described policy loads no weights: the machine could not hold them. */
  @Test
  void fittingPlan_aPolicyLargerThanTheMachine_isRefusedUnlessItIsElsewhere() throws IOException {
    String huge =
        """
        task: {name: arithmetic, min: 0, max: 9, held_out_share: 0.2}
        policy: {engine: djl, hidden: 65536, layers: 1000, feed_forward: 65536, device: cpu}
        rollout: {completions_per_prompt: 4, max_tokens: 3}
        training: {steps: 2, groups_per_step: 4, learning_rate: 1e-4}
        """;
    ResolvedConfig<RunConfig> here =
        ConfigurationFile.bind(RunConfig.class, folder.resolve("run.yaml"), huge, List.of());
    ResolvedConfig<RunConfig> placed =
        ConfigurationFile.bind(
            RunConfig.class, folder.resolve("run.yaml"), huge, List.of("placement.nodes=1"));

    assertThatThrownBy(() -> Composition.of(here.config()).fittingPlan(here))
        .isInstanceOf(ConfigurationException.class)
        .hasMessageContaining("must fit in the memory that is free here");
    assertThat(Composition.of(placed.config()).fittingPlan(placed).memory()).hasSize(1);
  }

  /** With coordinator_gpu: false, or as one that takes over where no GPU is kept for it. */
  @ParameterizedTest
  @CsvSource({"cuda, false", "cuda:7, false", "cuda, true", "cuda:7, true"})
  void engines_coordinatorWithoutAGpuWhoseNodesStartTheRanks_computesOnTheProcessor(
      String device, boolean gpu) throws Exception {
    assumeThat(TorchReport.load().gpus()).isEmpty();
    RunFolder run = TestRuns.empty(folder);
    Composition coordinator =
        Composition.of(
            config(
                TINY,
                "",
                "policy.device=" + device,
                "placement.nodes=1",
                "placement.trainer_ranks=2",
                "placement.ranks_as=nodes",
                "placement.coordinator_gpu=" + gpu));
    try (PolicyEngines engines = coordinator.engines(run, List.of(), Optional.empty(), _ -> {})) {
      assertThat(engines.device()).startsWith("cpu, PyTorch ");
    }
    assertThatThrownBy(coordinator::engines)
        .isInstanceOf(UnsupportedPolicyException.class)
        .hasMessageStartingWith("policy.device: the device cuda:");
  }

  @Test
  void of_teacherPromptOverTwinsWithOtherSolutions_isRefusedWithBoth() throws IOException {
    Files.writeString(
        folder.resolve("twins.jsonl"),
        """
        {"id": "a", "prompt": "1+1=", "answer": "2", "solution": "2"}
        {"id": "b", "prompt": "2+2=", "answer": "4", "solution": "4"}
        {"id": "c", "prompt": "1+1=", "answer": "2", "solution": "02"}
        """);
    RunConfig shown =
        of(
            "{name: jsonl, file: twins.jsonl, verifier: numeric, solution_field: solution,"
                + " held_out_share: 0}",
            TINY,
            "distillation: {divergence: jsd, top_k: 4, teacher_prompt: '{prompt}{solution}'}\n",
            "evaluation.every=0");

    assertThatThrownBy(() -> Composition.of(shown))
        .isInstanceOf(TaskDataException.class)
        .hasMessage(
            "distillation.teacher_prompt: prompts a and c are the same tokens and have different"
                + " solutions, so that a teacher cannot be shown the right one; leave one of them"
                + " out");
  }

  /** A run on a file whose completions have 2 tokens, in a context of 16. */
  private static String sums(int maxTokens) {
    return """
    task:
      {name: jsonl, alias: sums, file: sums.jsonl, verifier: numeric, held_out_share: 0,
       max_completion_tokens: 2}
    data: {overlong: drop}
    policy: {engine: toy, context_length: 16}
    rollout: {completions_per_prompt: 4, max_tokens: %d}
    training: {steps: 2, groups_per_step: 2, learning_rate: 1e-4}
    evaluation: {every: 0}
    warmup: {steps: 0}
    """
        .formatted(maxTokens);
  }

  @Test
  void linesAndPlan_dataThatIsNotUsed_sayWhatAndWhichKeyToChange() throws Exception {
    Files.writeString(
        folder.resolve("sums.jsonl"),
        """
        {"id": "a", "prompt": "1+1=", "answer": "2"}
        {"id": "b", "prompt": "%s=", "answer": "40"}
        {"id": "c", "prompt": "2+2=", "answer": "4"}
        """
            .formatted("1+".repeat(20)));
    String yaml = sums(3);
    ResolvedConfig<RunConfig> resolved =
        ConfigurationFile.bind(RunConfig.class, folder.resolve("run.yaml"), yaml, List.of());
    Composition composition = Composition.of(resolved.config());
    List<String> said =
        List.of(
            "sums: 1 of 3 prompts left out, without room for a completion of 2 tokens in a context"
                + " of 16, such as sums/b; raise policy.context_length, or lower"
                + " max_completion_tokens",
            "sums: completions end after 2 tokens, by max_completion_tokens, before the 3 of"
                + " rollout.max_tokens");

    RunFolder run = TestRuns.empty(folder);
    try (PolicyEngines engines = composition.engines()) {
      List<String> lines = new RunBanner(composition, run, ResumePoint.none(), 1).lines(engines);
      assertThat(lines.get(2)).isEqualTo("task   sums: 2 prompts, 0 held out · seed 1");
      assertThat(lines.subList(3, 5)).isEqualTo(said.stream().map("data   "::concat).toList());
      assertThat(lines.get(5)).startsWith("loop   ");
    }
    Plan plan = composition.plan(resolved);
    assertThat(plan.json()).containsEntry("data", said);
    assertThat(plan.text())
        .contains("\ndata\n  - " + String.join("\n  - ", said) + "\n\nplacement");
  }

  /** A prompt that fits with its own data set's limit fits, also where the run allows more. */
  @Test
  void plan_promptsThatFitWithTheirSetsOwnLimit_areKeptAndNotRefused() throws Exception {
    Files.writeString(
        folder.resolve("sums.jsonl"),
        """
        {"id": "a", "prompt": "1+1=", "answer": "2"}
        {"id": "b", "prompt": "%s=", "answer": "8"}
        {"id": "c", "prompt": "%s=", "answer": "9"}
        """
            .formatted("0".repeat(13), "0".repeat(14)));
    String yaml = sums(9);
    ResolvedConfig<RunConfig> resolved =
        ConfigurationFile.bind(RunConfig.class, folder.resolve("run.yaml"), yaml, List.of());
    Composition composition = Composition.of(resolved.config());
    assertThat(composition.task().train())
        .extracting(prompt -> prompt.id().value())
        .containsExactly("sums/a", "sums/b");
    assertThat(composition.plan(resolved).json()).containsKey("data");

    ResolvedConfig<RunConfig> kept =
        ConfigurationFile.bind(
            RunConfig.class,
            folder.resolve("run.yaml"),
            yaml.replace("overlong: drop", "overlong: refuse"),
            List.of());
    assertThatThrownBy(() -> Composition.of(kept.config()).plan(kept))
        .hasMessageContaining(
            "must hold the longest prompt (15 tokens) and its longest completion (2)")
        .hasMessageContaining("raise it to 17 or more");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "0 | 1025 | math: completions end after 1,025 tokens, and its published set-up allows"
            + " 1,024; max_completion_tokens: 1024 applies that",
        "0 | 1024 |",
        "1024 | 1024 |",
        "2000 | 1500 | math: max_completion_tokens (2,000) has no effect; the run allows 1,500"
            + " tokens by rollout.max_tokens",
        "7 | 9 | math: completions end after 7 tokens, by max_completion_tokens, before the 9 of"
            + " rollout.max_tokens"
      })
  void lines_tokenLimitsOfADataSet_sayWhichOneHolds(int own, int run, @Nullable String line)
      throws IOException {
    Path data = Path.of("../../conf/data/linear/train.jsonl").toAbsolutePath();
    RunConfig config =
        of(
            "{name: math, file: %s}".formatted(data),
            TINY,
            "",
            "policy.context_length=4096",
            "task.max_completion_tokens=" + own,
            "rollout.max_tokens=" + run);

    assertThat(
            DataSummary.lines(
                config,
                TaskLoader.of(config.task(), config.data(), 1, PromptTemplate.noTemplate()).load(),
                Map.of("math", VerifierSpec.named("math"))))
        .isEqualTo(line == null ? List.of() : List.of(line));
  }

  /** The date of the run is in the text, whatever the day is on which it is read. */
  @Test
  void of_templateThatWritesTheDate_writesTheRuns() throws IOException {
    Path dated = Files.createDirectory(folder.resolve("dated"));
    copy(TINY, dated);
    Files.writeString(
        dated.resolve("chat_template.jinja"),
        "{{ strftime_now('%d %b %Y') }}|{{ messages[0]['content'] }}");
    String chat = "{name: arithmetic, min: 0, max: 9, held_out_share: 0.2, template: chat}";
    RunConfig run = of(chat, dated, "", "run.date=2024-07-26T23:30:00-05:00");

    Composition composition = Composition.of(run);

    assertThat(composition.task().train())
        .allSatisfy(prompt -> assertThat(prompt.text()).startsWith("26 Jul 2024|"));
    assertThat(composition.task().heldOut())
        .allSatisfy(prompt -> assertThat(prompt.text()).startsWith("26 Jul 2024|"));
    assertThat(
            composition
                .chatTemplate()
                .orElseThrow()
                .render(List.of(ChatTemplate.Message.user("a")), true, Map.of()))
        .isEqualTo("26 Jul 2024|a");
  }

  @Test
  void of_postProcessorThatPutsATokenFirst_beginsRawPromptsAndNotChats() throws IOException {
    Path begins = Files.createDirectory(folder.resolve("begins"));
    copy(TINY, begins);
    Path file = begins.resolve("tokenizer.json");
    ObjectNode json = (ObjectNode) new ObjectMapper().readTree(file.toFile());
    json.set(
        "post_processor",
        new ObjectMapper()
            .readTree(
                """
                {"type": "TemplateProcessing",
                 "single": [{"SpecialToken": {"id": "<|im_start|>", "type_id": 0}},
                            {"Sequence": {"id": "A", "type_id": 0}}],
                 "pair": [{"Sequence": {"id": "A", "type_id": 0}},
                          {"Sequence": {"id": "B", "type_id": 1}}],
                 "special_tokens": {"<|im_start|>":
                     {"id": "<|im_start|>", "ids": [267], "tokens": ["<|im_start|>"]}}}
                """));
    Files.writeString(file, json.toString());
    Files.writeString(begins.resolve("chat_template.jinja"), "{{ messages[0]['content'] }}");
    String sums = "{name: arithmetic, min: 0, max: 9, held_out_share: 0.2%s}";

    Composition raw = Composition.of(of(sums.formatted(""), begins, ""));
    Composition chat = Composition.of(of(sums.formatted(", template: chat"), begins, ""));

    for (List<Prompt> prompts : List.of(raw.task().train(), raw.task().heldOut())) {
      assertThat(prompts)
          .isNotEmpty()
          .allSatisfy(
              prompt ->
                  assertThat(raw.tokenizer().encodeWithSpecial(prompt.text())).startsWith(267));
    }
    assertThat(chat.task().train())
        .allSatisfy(prompt -> assertThat(prompt.text()).doesNotContain("<|im_start|>"));
  }

  @Test
  void of_teacher_isCheckedAgainstThePolicyBeforeAnythingStarts() throws IOException {
    String distilled = "distillation: {divergence: jsd, top_k: 4, teacher: %s}\n";
    RunConfig fit = config(TINY, distilled.formatted(TINY.toAbsolutePath()));
    RunConfig lost = config(TINY, distilled.formatted("nowhere"));

    assertThat(Composition.of(fit).teacher()).hasSize(1);
    assertThatThrownBy(() -> Composition.of(lost))
        .isInstanceOf(UnsupportedPolicyException.class)
        .hasMessageStartingWith("distillation.teacher: the teacher ")
        .hasMessageEndingWith("nowhere is no directory");
  }

  /** A base checkpoint, as those of Qwen3: its texts end otherwise than the template's turns. */
  private Path baseWithChatTemplate() throws IOException {
    Path base = Files.createDirectory(folder.resolve("base"));
    copy(TINY, base);
    Files.writeString(base.resolve("generation_config.json"), "{\"eos_token_id\": 266}");
    Files.writeString(
        base.resolve("chat_template.jinja"),
        """
        {% for m in messages %}<|im_start|>{{ m.role }}
        {{ m.content }}<|im_end|>
        {% endfor %}{% if add_generation_prompt %}<|im_start|>assistant
        {% if enable_thinking is defined and not enable_thinking %}<think></think>{% endif %}{% endif %}\
        """);
    return base;
  }

  @Test
  void of_chatsOfABaseCheckpoint_endAndAreTaughtAsTheTemplateEndsATurn() throws IOException {
    Path base = baseWithChatTemplate();
    String sums = "{name: arithmetic, min: 0, max: 9, held_out_share: 0.2%s}";

    Composition raw = Composition.of(of(sums.formatted(""), base, ""));
    Composition chat = Composition.of(of(sums.formatted(", template: chat"), base, ""));

    assertThat(chat.tokenizer().endIds()).containsExactly(266);
    assertThat(chat.settings().sampling().of(chat.task().train().getFirst()).stopIds())
        .containsExactly(268);
    assertThat(chat.evaluationSampling().of(chat.task().heldOut().getFirst()).stopIds())
        .containsExactly(268);
    assertThat(chat.pool().end(0)).containsExactly(268);
    assertThat(DataSummary.ofRows(chat.task()))
        .containsExactly("arithmetic: answers end with <|im_end|> (268), by the chat template");
    assertThat(raw.settings().sampling().of(raw.task().train().getFirst()).stopIds()).isEmpty();
    assertThat(raw.pool().end(0)).containsExactly(266);
    assertThat(DataSummary.ofRows(raw.task())).isEmpty();
  }

  @Test
  void of_thinking_isTheChoiceOfEveryPromptOrRefusedByTheKey() throws IOException {
    Path base = baseWithChatTemplate();
    String chat = "{name: arithmetic, min: 0, max: 9, held_out_share: 0.2, template: chat}";

    assertThat(Composition.of(of(chat, base, "")).task().train().getFirst().text())
        .endsWith("assistant\n<think></think>");
    assertThat(
            Composition.of(of(chat, base, "", "policy.thinking=true"))
                .task()
                .train()
                .getFirst()
                .text())
        .endsWith("assistant\n");
    Files.writeString(base.resolve("chat_template.jinja"), "{{ messages[0].content }}");
    assertThatThrownBy(() -> Composition.of(of(chat, base, "", "policy.thinking=false")))
        .isInstanceOf(UnsupportedPolicyException.class)
        .hasMessageStartingWith("policy.thinking (false): the text of the chat template");
  }
}
