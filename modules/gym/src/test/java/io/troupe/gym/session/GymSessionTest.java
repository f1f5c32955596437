package io.troupe.gym.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.base.files.FileTree;
import io.troupe.gym.arithmetic.ArithmeticGym;
import io.troupe.gym.config.GymConfig;
import io.troupe.gym.item.TrainingRow;
import io.troupe.gym.loop.GymLoop;
import io.troupe.gym.loop.GymState;
import io.troupe.gym.loop.GymWork;
import io.troupe.gym.student.Students;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class GymSessionTest {
  private static final Path CONF = Path.of("../../conf/gym-arithmetic.yaml");
  private static final Clock CLOCK = Clock.fixed(Instant.EPOCH, ZoneOffset.UTC);
  private static final List<String> SMALL =
      List.of(
          "trials.seeds=[1]",
          "trials.arms=[weakness, uniform, old_rows, fill_balanced]",
          "trials.iterations=2",
          "trials.rows=20",
          "task.validation_items=10",
          "task.test_items=10",
          "task.base_rows=20",
          "quality.tries=4");

  @TempDir private Path root;

  /**
   * A student that answers what it was trained on, and every leaf of its rows: its folder lists
   * both.
   */
  private static final class Remembering implements Students {
    private final List<String> trained = new ArrayList<>();
    private final ArithmeticGym gym = new ArithmeticGym(10, 10);

    @Override
    public Outcome makeBase(long seed, List<TrainingRow> rows, Path folder) throws IOException {
      return save("base " + seed, rows, folder);
    }

    @Override
    public Outcome train(
        Path base, List<TrainingRow> rows, List<TrainingRow> replay, long seed, Path folder)
        throws IOException {
      List<TrainingRow> all = new ArrayList<>(rows);
      all.addAll(replay);
      return save(String.valueOf(folder), all, folder);
    }

    private Outcome save(String what, List<TrainingRow> rows, Path folder) throws IOException {
      trained.add(what);
      Files.createDirectories(folder);
      Set<String> leaves = new HashSet<>();
      rows.forEach(row -> leaves.add(row.item().leaf()));
      Files.write(folder.resolve("leaves"), leaves.stream().sorted().toList());
      return new Outcome.Fitted(rows.size(), 0.5);
    }

    @Override
    public List<List<String>> answer(Path student, List<String> prompts, int samples, long seed)
        throws IOException {
      Set<String> leaves = Set.copyOf(Files.readAllLines(student.resolve("leaves")));
      List<List<String>> answers = new ArrayList<>();
      for (String prompt : prompts) {
        List<String> tries = new ArrayList<>();
        for (int i = 0; i < samples; i++) {
          boolean knows =
              gym.test().stream()
                  .anyMatch(item -> item.prompt().equals(prompt) && leaves.contains(item.leaf()));
          tries.add(
              knows || (i % 2 == 1 && samples > 1)
                  ? gym.test().stream()
                      .filter(item -> item.prompt().equals(prompt))
                      .map(item -> item.answer())
                      .findFirst()
                      .orElse("?")
                  : "?");
        }
        answers.add(tries);
      }
      return answers;
    }

    @Override
    public void close() {}
  }

  private GymConfig config(String... more) {
    List<String> all = new ArrayList<>(SMALL);
    all.addAll(List.of(more));
    return GymConfig.load(CONF, all).config();
  }

  /** Runs at most a number of works, as a process that is killed after them. */
  private boolean run(Path path, GymConfig config, Students students, int works) throws Exception {
    int[] left = {works};
    GymFolder folder = new GymFolder(path);
    try (GymJournal journal = GymJournal.open(folder.journal(), config.plan(), CLOCK)) {
      return new GymSession(
              config.plan(),
              GymParts.of(config, students, GymParts.task(config, folder)),
              folder,
              journal,
              _ -> {})
          .run(() -> left[0]-- == 0);
    }
  }

  @Test
  void run_endedAfterEveryWork_isTheRunThatNeverEnded() throws Exception {
    GymConfig config = config("gate.others_least=0", "gate.weak_most=1");
    Remembering whole = new Remembering();
    assertThat(run(root.resolve("whole"), config, whole, Integer.MAX_VALUE)).isTrue();
    Remembering cut = new Remembering();
    int processes = 0;
    while (!run(root.resolve("cut"), config, cut, 1)) {
      processes++;
    }

    GymState expected = GymJournal.read(root.resolve("whole/journal"), config.plan());
    assertThat(processes).isGreaterThan(30);
    assertThat(GymJournal.read(root.resolve("cut/journal"), config.plan())).isEqualTo(expected);
    assertThat(cut.trained).hasSameSizeAs(whole.trained);
    assertThat(Files.readString(root.resolve("cut/performance_history.csv")))
        .isEqualTo(Files.readString(root.resolve("whole/performance_history.csv")));
  }

  @Test
  void run_endedBetweenStudentAndEvent_doesNotTrainAgain() throws Exception {
    GymConfig config = config("gate.others_least=0", "gate.weak_most=1");
    Remembering students = new Remembering();
    GymState state = GymState.of(config.plan());
    int works = 0;
    while (!(GymLoop.next(state) instanceof GymWork.Train)) {
      assertThat(run(root.resolve("a"), config, students, 1)).isFalse();
      state = GymJournal.read(root.resolve("a/journal"), config.plan());
      works++;
    }
    assertThat(works).isEqualTo(4);
    // The training is done and its folder whole, but no event says so.
    Path saved = root.resolve("journal-before");
    copy(root.resolve("a/journal"), saved);
    assertThat(run(root.resolve("a"), config, students, 1)).isFalse();
    int trained = students.trained.size();
    FileTree.delete(root.resolve("a/journal"));
    copy(saved, root.resolve("a/journal"));

    assertThat(run(root.resolve("a"), config, students, 1)).isFalse();

    assertThat(students.trained).hasSize(trained);
  }

  private static void copy(Path from, Path to) throws Exception {
    Files.createDirectories(to);
    try (var files = Files.list(from)) {
      for (Path file : files.toList()) {
        Files.copy(file, to.resolve(file.getFileName()));
      }
    }
  }

  @Test
  void run_whole_writesTheLayoutAndTheReport() throws Exception {
    GymConfig config =
        config("gate.others_least=0", "gate.weak_most=1", "trials.arms=[weakness, uniform]");
    assertThat(run(root, config, new Remembering(), Integer.MAX_VALUE)).isTrue();

    Path first = root.resolve("trial_00_weakness_1");
    assertThat(first.resolve("iteration_0/completed_val_task_instances.jsonl")).exists();
    assertThat(first.resolve("iteration_0/completed_test_task_instances.jsonl")).exists();
    assertThat(first.resolve("iteration_2/training_data.jsonl")).exists();
    assertThat(first.resolve("iteration_2/trainable_predictor/student.json")).exists();
    assertThat(first.resolve("iteration_1/completed_test_task_instances.jsonl")).doesNotExist();
    assertThat(Files.readString(root.resolve("performance_history.csv")))
        .startsWith(
            "arm,seed,iteration,split,task,skill,metric,value,count,stderr,data_total,tokens,cost\n"
                + "weakness,1,0,validation,arithmetic,all,accuracy,");
    GymComparison comparison =
        new GymComparison(
            config.plan(),
            new GymFolder(root),
            GymParts.task(config, new GymFolder(root)).test(),
            GymJournal.read(root.resolve("journal"), config.plan()));
    assertThat(comparison.text()).contains("weakness", "Model calls: 0, 0 tokens, $0.0000.");
    assertThat(comparison.paired("weakness", "sub/borrow").orElseThrow().items()).isEqualTo(10);
    assertThat(new GymChart(comparison).svg()).startsWith("<svg").contains("sub/borrow");
    assertThat(root.resolve("gym.html"))
        .content()
        .contains("It has ended.", "<a href=\"trial_00_weakness_1/trial.html\">1</a>", "<svg")
        .doesNotContain("reloads itself");
    assertThat(first.resolve("trial.html"))
        .content()
        .contains("<h1>Trial 1: weakness, seed 1</h1>", "<th>after 2</th>", "<td>borrow</td>")
        .contains("Rows of the last iteration", "Answers before and after iteration 2");
  }

  @Test
  void run_gateMissed_endsEachTrialWithTheReason() throws Exception {
    GymConfig config = config("gate.weak=[add/carry]", "gate.weak_most=0.05");
    Students nothing = new Remembering();
    assertThat(run(root, config, nothing, Integer.MAX_VALUE)).isTrue();

    assertThat(GymJournal.read(root.resolve("journal"), config.plan()).trials())
        .allMatch(trial -> trial.ended().startsWith("gate missed: the base student's accuracy on"));
  }
}
