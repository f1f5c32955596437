package io.troupe.gym.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.gym.config.GymConfig;
import io.troupe.gym.item.TrainingRow;
import io.troupe.gym.loop.GymState;
import io.troupe.gym.loop.Spend;
import io.troupe.gym.model.JournalledModel;
import io.troupe.gym.model.LanguageModel;
import io.troupe.gym.model.ModelReply;
import io.troupe.gym.model.ModelRequest;
import io.troupe.gym.student.Students;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Gyms whose rows a language model writes. */
class ModelGymTest {
  private static final Path CONF = Path.of("../../conf/gym-arithmetic.yaml");
  private static final Clock CLOCK = Clock.fixed(Instant.EPOCH, ZoneOffset.UTC);

  @TempDir private Path root;

  /** The process was killed. */
  private static final class Killed extends RuntimeException {
    private static final long serialVersionUID = 1;
  }

  /** Answers every question with one function of its number. */
  private static final class Written implements LanguageModel {
    private final UnaryOperator<String> answer;
    private final List<String> asked = new ArrayList<>();
    private int left = Integer.MAX_VALUE;

    Written(UnaryOperator<String> answer) {
      this.answer = answer;
    }

    @Override
    public ModelReply ask(ModelRequest request) {
      if (left-- == 0) {
        throw new Killed();
      }
      asked.add(request.user() + request.occasion());
      return new ModelReply(answer.apply(request.user()), new Spend(1, 10, 10, 1));
    }

    @Override
    public Spend most(long inputTokens) {
      return new Spend(1, 10, 10, 1);
    }

    @Override
    public String identity() {
      return "written";
    }
  }

  private static final class Nothing implements Students {
    @Override
    public Outcome makeBase(long seed, List<TrainingRow> rows, Path folder) throws IOException {
      Files.createDirectories(folder);
      return new Outcome.Fitted(1, 1);
    }

    @Override
    public Outcome train(
        Path base, List<TrainingRow> rows, List<TrainingRow> replay, long seed, Path folder)
        throws IOException {
      return makeBase(seed, rows, folder);
    }

    @Override
    public List<List<String>> answer(Path student, List<String> prompts, int samples, long seed) {
      return prompts.stream().map(_ -> List.of("000")).toList();
    }

    @Override
    public void close() {}
  }

  private static GymConfig config(String... more) {
    List<String> all =
        new ArrayList<>(
            List.of(
                "trials.seeds=[1]",
                "trials.arms=[weakness]",
                "trials.iterations=2",
                "trials.rows=10",
                "task.validation_items=4",
                "task.test_items=4",
                "task.base_rows=4",
                "gate.others_least=0",
                "model.provider=openai",
                "model.url=http://127.0.0.1:1/v1",
                "model.model=m"));
    all.addAll(List.of(more));
    return GymConfig.load(CONF, all).config();
  }

  private GymState run(GymConfig config, LanguageModel model, Path folder) throws Exception {
    try (GymJournal journal =
        GymJournal.open(new GymFolder(folder).journal(), config.plan(), CLOCK)) {
      boolean done =
          new GymSession(
                  config.plan(),
                  GymParts.of(
                      config,
                      new Nothing(),
                      GymParts.task(config, new GymFolder(folder)),
                      new GymFolder(folder),
                      journal,
                      model),
                  new GymFolder(folder),
                  journal,
                  _ -> {})
              .run(() -> false);
      assertThat(done).isTrue();
      return journal.state();
    }
  }

  private static String subtraction(String question) {
    int number = Math.floorMod(question.hashCode(), 80);
    return "{\"rows\":[{\"problem\":\"%02d-%02d=\",\"answer\":\"%s\"}]}"
        .formatted(number + 10, 7, new StringBuilder("%03d".formatted(number + 3)).reverse());
  }

  @Test
  void run_killedBeforeEveryCall_paysForNoCallTwice() throws Exception {
    Written whole = new Written(ModelGymTest::subtraction);
    GymState expected = run(config(), whole, root.resolve("whole"));
    Written cut = new Written(ModelGymTest::subtraction);
    GymState state = GymState.of(config().plan());
    for (boolean done = false; !done; ) {
      cut.left = 1;
      try {
        state = run(config(), cut, root.resolve("cut"));
        done = true;
      } catch (Killed killed) {
        cut.left = 0;
      }
    }

    assertThat(whole.asked).hasSizeGreaterThan(5).doesNotHaveDuplicates();
    assertThat(cut.asked).containsExactlyElementsOf(whole.asked);
    assertThat(state).isEqualTo(expected);
    assertThat(state.spend().calls()).isEqualTo(whole.asked.size());
  }

  @Test
  void run_errorsOfTheStudent_areInTheQuestion() throws Exception {
    Written model = new Written(ModelGymTest::subtraction);
    GymState _ = run(config(), model, root);

    assertThat(model.asked.getFirst())
        .contains("the student answers: 000", "right is: ", "Write 2 new problems")
        .doesNotContain("{skill}");
  }

  @Test
  void run_aModelThatAnswersNonsense_endsWithTheBase() throws Exception {
    GymState state = run(config(), new Written(_ -> "as a language model"), root);

    assertThat(state.trials().getFirst().ended()).isEqualTo("done");
    assertThat(state.trials().getFirst().best()).isZero();
    assertThat(state.trials().getFirst().rows()).isZero();
  }

  @Test
  void run_aModelThatCopiesAHeldOutItem_isRefused() throws Exception {
    String held = GymParts.task(config(), new GymFolder(root)).test().getFirst().prompt();
    GymState state =
        run(
            config(),
            new Written(_ -> "{\"rows\":[{\"problem\":\"%s\",\"answer\":\"1\"}]}".formatted(held)),
            root);

    assertThat(state.trials().getFirst().rows()).isZero();
    assertThat(state.trials().getFirst().steps().getFirst().refused()).containsOnlyKeys("held_out");
  }

  @Test
  void run_aBudgetThatEnds_keepsEverythingAndResumes() throws Exception {
    Written model = new Written(ModelGymTest::subtraction);
    assertThatThrownBy(() -> run(config("model.most_calls=3"), model, root))
        .isInstanceOf(JournalledModel.BudgetException.class)
        .hasMessageContaining("--resume continues");
    assertThat(model.asked).hasSize(3);

    GymState state = run(config("model.most_calls=100"), model, root);

    assertThat(model.asked).doesNotHaveDuplicates();
    assertThat(state.spend().calls()).isEqualTo(model.asked.size());
    assertThat(state.answers()).hasSize(model.asked.size());
  }

  @Test
  void run_openEndedAndSkillList_askAgainstErrorsAndKeepTheirRows() throws Exception {
    Written model =
        new Written(
            question ->
                subtraction(question).replace("{\"rows\"", "{\"weak_skill\":\"x\",\"rows\""));
    GymConfig config = config("trials.arms=[open_ended, skill_list]", "trials.rows=20");
    GymState state = run(config, model, root);

    assertThat(model.asked)
        .filteredOn(question -> question.startsWith("You find out"))
        .hasSizeGreaterThan(4)
        .doesNotHaveDuplicates()
        .allMatch(question -> question.contains("the student answers: 000"));
    assertThat(state.trials()).allMatch(trial -> trial.rows() > 0);
    Path second = root.resolve("trial_01_skill_list_1/iteration_2/data_strategy_outputs");
    assertThat(Files.readString(second.resolve("past_experiences.jsonl")))
        .startsWith("{\"iteration\":1,\"actions\":{},\"kept\":");
  }

  @Test
  void run_openEndedWithNonsenseForEver_endsWithTheBase() throws Exception {
    GymState state =
        run(
            config("trials.arms=[open_ended, skill_list, alternating]"),
            new Written(_ -> "as a language model"),
            root);

    assertThat(state.trials())
        .allMatch(trial -> trial.ended().equals("done") && trial.best() == 0 && trial.rows() == 0);
  }

  @Test
  void run_aModelThatWritesOneRowForEver_keepsItOnce() throws Exception {
    GymState state =
        run(
            config("trials.arms=[open_ended]"),
            new Written(
                _ ->
                    "{\"weak_skill\":\"x\",\"rows\":[{\"problem\":\"91-07=\",\"answer\":\"480\"}]}"),
            root);

    assertThat(state.trials().getFirst().rows()).isEqualTo(1);
    assertThat(state.trials().getFirst().steps().getLast().refused()).containsOnlyKeys("duplicate");
    assertThat(state.trials().getFirst().ended()).isEqualTo("done");
  }

  @Test
  void run_aModelThatWritesMarkup_isEscapedOnThePages() throws Exception {
    GymState _ =
        run(
            config("trials.arms=[open_ended]"),
            new Written(
                _ ->
                    "{\"weak_skill\":\"x\",\"rows\":[{\"problem\":\"<img src=x>\",\"answer\":\"<b>\"}]}"),
            root);

    assertThat(root.resolve("trial_00_open_ended_1/trial.html"))
        .content()
        .contains("&lt;img src=x&gt;", "<td>refused</td>")
        .doesNotContain("<img");
  }
}
