package io.troupe.run.supervised;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.config.binding.ConfigurationFile;
import io.troupe.config.binding.ResolvedConfig;
import io.troupe.config.supervised.SupervisedConfig;
import io.troupe.core.supervised.SupervisedEvent;
import io.troupe.core.supervised.SupervisedState;
import io.troupe.run.supervised.SupervisedSession.Outcome;
import io.troupe.run.supervised.SupervisedSession.SupervisedListener;
import io.troupe.store.folder.RunFolder;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Supervised runs, with the toy policy. */
final class SupervisedSessionTest {
  @TempDir private Path folder;

  @BeforeEach
  void writeRows() throws IOException {
    Files.write(
        folder.resolve("rows.jsonl"),
        IntStream.range(0, 20)
            .mapToObj("{\"prompt\":\"%1$d+0=\",\"completion\":\"%1$d\"}"::formatted)
            .toList());
  }

  private ResolvedConfig<SupervisedConfig> config(String... overrides) {
    return ConfigurationFile.bind(
        SupervisedConfig.class,
        folder.resolve("sft.yaml"),
        """
        run: {date: "2026-11-22T18:00:00+01:00"}
        policy: {engine: toy}
        datasets: [{file: rows.jsonl, held_out_share: 0.2}]
        training: {epochs: 3, batch: 3, learning_rate: 0.1, schedule: linear, evaluate_every: 4}
        checkpoint: {every: 5, keep: 9}
        evaluations:
          - name: sums
            every: 6
            prompts: 5
            max_tokens: 4
            datasets: [{name: arithmetic, min: 0, max: 9}]
        """,
        List.of(overrides));
  }

  private RunFolder begin(String name, ResolvedConfig<SupervisedConfig> resolved)
      throws IOException {
    return RunFolder.create(
        folder.resolve("runs"),
        name,
        LocalDateTime.of(2026, 11, 22, 18, 0),
        new RunFolder.Contents(
            "".getBytes(StandardCharsets.UTF_8),
            resolved.yaml(),
            Map.of(RunFolder.KIND, RunFolder.SUPERVISED),
            ""));
  }

  private static SupervisedListener listener(Consumer<SupervisedEvent> events) {
    return new SupervisedListener() {
      @Override
      public void say(String line) {}

      @Override
      public void happened(SupervisedEvent event) {
        events.accept(event);
      }

      @Override
      public void row(Map<String, Object> row) {}
    };
  }

  private static Outcome run(
      RunFolder folder,
      ResolvedConfig<SupervisedConfig> resolved,
      Consumer<SupervisedEvent> events,
      CompletableFuture<?> stop)
      throws Exception {
    return new SupervisedSession(
            SupervisedComposition.of(resolved.config(), folder.checkpoints()),
            folder,
            Optional.empty(),
            listener(events),
            stop)
        .run();
  }

  /** The rows of metrics without what a clock says. */
  private static List<String> metrics(RunFolder folder) throws IOException {
    return Files.readAllLines(folder.metrics()).stream()
        .map(line -> line.replaceAll("\"(step_s|tokens_per_s)\":[^,}]+", ""))
        .toList();
  }

  private static byte[] weights(Outcome outcome) throws IOException {
    List<Path> files;
    try (var found = Files.list(outcome.policy().orElseThrow())) {
      files = found.sorted().toList();
    }
    StringBuilder all = new StringBuilder();
    for (Path file : files) {
      all.append(new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1));
    }
    return all.toString().getBytes(StandardCharsets.ISO_8859_1);
  }

  @Test
  void run_undisturbed_trainsEveryRowEachEpoch() throws Exception {
    ResolvedConfig<SupervisedConfig> config = config();
    RunFolder run = begin("whole", config);
    List<SupervisedEvent> events = new ArrayList<>();

    Outcome outcome = run(run, config, events::add, new CompletableFuture<>());

    assertThat(outcome.reason()).isEqualTo(SupervisedEvent.Reason.COMPLETED);
    assertThat(outcome.state().step()).isEqualTo(18);
    assertThat(outcome.state().rows()).isEqualTo(48);
    assertThat(SupervisedHistory.read(run.journal()).state()).isEqualTo(outcome.state());
    assertThat(metrics(run)).hasSize(19);
    assertThat(
            events.stream()
                .filter(event -> event instanceof SupervisedEvent.Evaluated)
                .map(event -> (SupervisedEvent.Evaluated) event)
                .map(each -> each.name() + " " + each.step()))
        .containsExactly(
            "held_out_loss 0",
            "eval_sums 0",
            "held_out_loss 4",
            "eval_sums 6",
            "held_out_loss 8",
            "held_out_loss 12",
            "eval_sums 12",
            "held_out_loss 16",
            "held_out_loss 18",
            "eval_sums 18");
  }

  @Test
  void run_diedAfterAnyStep_resumesToTheSameBitsAndRows() throws Exception {
    ResolvedConfig<SupervisedConfig> config = config();
    RunFolder whole = begin("whole", config);
    Outcome expected = run(whole, config, _ -> {}, new CompletableFuture<>());
    for (int died = 1; died <= 17; died += 4) {
      int at = died;
      RunFolder run = begin("died" + died, config);
      assertThatThrownBy(
              () ->
                  run(
                      run,
                      config,
                      event -> {
                        if (event instanceof SupervisedEvent.Stepped(var step)
                            && step.step() == at) {
                          throw new IllegalStateException("died");
                        }
                      },
                      new CompletableFuture<>()))
          .hasMessage("died");

      Outcome outcome = run(run, config, _ -> {}, new CompletableFuture<>());

      assertThat(outcome.state()).isEqualTo(expected.state());
      assertThat(weights(outcome)).isEqualTo(weights(expected));
      assertThat(metrics(run)).isEqualTo(metrics(whole));
    }
  }

  @Test
  void run_stopped_savesAndContinues() throws Exception {
    ResolvedConfig<SupervisedConfig> config = config();
    RunFolder run = begin("stopped", config);
    CompletableFuture<Integer> stop = new CompletableFuture<>();

    Outcome first =
        run(
            run,
            config,
            event -> {
              if (event instanceof SupervisedEvent.Stepped(var step) && step.step() == 7) {
                stop.complete(2);
              }
            },
            stop);
    Outcome second = run(run, config, _ -> {}, new CompletableFuture<>());

    assertThat(first.reason()).isEqualTo(SupervisedEvent.Reason.INTERRUPTED);
    assertThat(first.state().step()).isEqualTo(7);
    assertThat(first.policy()).hasValue(run.checkpoints().resolve("step7").resolve("policy"));
    assertThat(second.reason()).isEqualTo(SupervisedEvent.Reason.COMPLETED);
    assertThat(second.state().rows()).isEqualTo(48);
  }

  @Test
  void run_otherRows_isRefused() throws Exception {
    ResolvedConfig<SupervisedConfig> config = config("training.epochs=1");
    RunFolder run = begin("changed", config);
    run(run, config, _ -> {}, new CompletableFuture<>());
    Files.writeString(folder.resolve("rows.jsonl"), "{\"prompt\":\"1=\",\"completion\":\"2\"}\n");

    assertThatThrownBy(() -> run(run, config, _ -> {}, new CompletableFuture<>()))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("are not those that changed-20261122-180000 began with");
  }

  @Test
  void train_loopAlone_learnsAndCanBeCancelled() throws Exception {
    SupervisedComposition composition = SupervisedComposition.of(config().config());
    List<SupervisedEvent> events = new ArrayList<>();
    try (var engines = composition.engines();
        var trainer = engines.newTrainer(1)) {
      double before = SupervisedLoop.loss(trainer, composition.data().train(), 5);
      SupervisedLoop loop =
          new SupervisedLoop(
              trainer,
              composition.data().train(),
              composition.config().training().plan(composition.data().train().size(), 1),
              step -> composition.config().training().optimisation(step, 18));

      SupervisedState stopped =
          loop.train(SupervisedState.INITIAL, events::add, () -> events.size() == 4);
      SupervisedState ended = loop.train(stopped, events::add, () -> false);

      assertThat(stopped.step()).isEqualTo(4);
      assertThat(ended.step()).isEqualTo(18);
      assertThat(SupervisedLoop.loss(trainer, composition.data().train(), 5))
          .isLessThan(before * 0.9);
    }
  }
}
