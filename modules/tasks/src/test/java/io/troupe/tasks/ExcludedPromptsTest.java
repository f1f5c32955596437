package io.troupe.tasks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.core.prompt.Prompt;
import io.troupe.tasks.DataSetSettings.HeldOut;
import io.troupe.tasks.DataSetSettings.LengthLimits;
import io.troupe.tasks.DataSetSettings.Ordering;
import io.troupe.tasks.rows.TaskDataException;
import io.troupe.tasks.sets.DataSet;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Every prompt that a data set has and a run does not use is counted, and one of them named. */
final class ExcludedPromptsTest {
  private static final Path MBPP = Path.of("../../conf/data/mbpp/mbpp.jsonl.gz");

  @TempDir private Path folder;

  /** Questions, the n-th with the id {@code gsm8k_n}. */
  private Sets gsm8k(String name, String... questions) throws IOException {
    StringBuilder rows = new StringBuilder();
    for (String question : questions) {
      rows.append("{\"question\": \"%s\", \"answer\": \"#### 1\"}\n".formatted(question));
    }
    return Sets.of(DataSet.GSM8K, Sets.file(folder, name, rows.toString()));
  }

  private static List<String> sentences(Task task) {
    return task.leftOut().stream().map(ExcludedPrompts::describe).toList();
  }

  private static ContextFilter room() {
    return new ContextFilter(prompt -> prompt.text().length(), 16, 5);
  }

  @Test
  void load_everythingUsed_leavesNothingOut() throws IOException {
    assertThat(gsm8k("all.jsonl", "a", "b").load().leftOut()).isEmpty();
  }

  @Test
  void load_rowsOverTheLimits_areNamedByLimit_andCountedOnce() throws IOException {
    Task task =
        gsm8k("cut.jsonl", "a", "b", "c", "longer than the others", "even longer than that one")
            .alias("x")
            .cut(new LengthLimits(20, Integer.MAX_VALUE, 2))
            .load();

    assertThat(task.train()).hasSize(2);
    assertThat(sentences(task))
        .containsExactly(
            "x: 2 of 5 rows left out, with more than 20 characters of prompt, such as x/gsm8k_3;"
                + " raise max_prompt_characters",
            "x: 1 of 3 prompts left out, after the first 2, such as x/gsm8k_2; raise rows");
  }

  @Test
  void load_heldOutFile_isReportedToo_andRefusedWhenNothingIsLeft() throws IOException {
    Path other = Sets.file(folder, "other.jsonl", "");
    Sets train = gsm8k("train.jsonl", "a");
    gsm8k("other.jsonl", "b", "a question of some length");
    HeldOut heldOut = new HeldOut.OtherFiles(List.of(other), Map.of());

    Task task = train.heldOut(heldOut).cut(new LengthLimits(20, 99, 9)).load();

    assertThat(task.heldOut()).hasSize(1);
    assertThat(sentences(task))
        .containsExactly(
            "gsm8k: 1 of 2 held-out rows left out, with more than 20 characters of prompt, such as"
                + " gsm8k_heldout_1; raise max_prompt_characters");
    gsm8k("other.jsonl", "a question of some length");
    assertThatThrownBy(() -> train.heldOut(heldOut).cut(new LengthLimits(20, 99, 9)).load())
        .isInstanceOf(TaskDataException.class)
        .hasMessage(
            other
                + ": nothing is left to evaluate on: 1 of 1 held-out rows left out, with more than"
                + " 20 characters of prompt, such as gsm8k_heldout_0; raise max_prompt_characters");
  }

  /** A held-out prompt is not left out, though training does not use it. */
  @Test
  void load_twoSplitsOfAFile_reportsWhatNeitherHas() throws IOException {
    Task task =
        Sets.of(DataSet.MBPP, MBPP)
            .facets(Map.of("split", List.of("train")))
            .heldOut(new HeldOut.OtherFiles(List.of(MBPP), Map.of("split", List.of("validation"))))
            .load();

    assertThat(task.train().size() + task.heldOut().size()).isEqualTo(374 + 90);
    assertThat(sentences(task))
        .containsExactly(
            "mbpp: 510 of 974 rows left out, of another split than train, such as mbpp_1; change"
                + " split, of which there are prompt, test, train, validation");
  }

  @Test
  void load_filtersThatLeaveNothing_sayWhichValuesThereAre() {
    assertThatThrownBy(
            () -> Sets.of(DataSet.MBPP, MBPP).facets(Map.of("split", List.of("tests"))).load())
        .isInstanceOf(TaskDataException.class)
        .hasMessage(
            MBPP
                + ": nothing is left to train on: 974 of 974 rows left out, of another split than"
                + " tests, such as mbpp_1; change split, of which there are prompt, test, train,"
                + " validation");
  }

  @Test
  void load_rowsThatNothingCanJudge_areRefusedWhenThereAreNoOthers() throws IOException {
    Path file =
        Sets.file(
            folder,
            "apps.jsonl",
            """
            {"problem_id": 6, "question": "Q", "input_output": ""}
            {"problem_id": 7, "question": "Q", "input_output": ""}
            """);

    assertThatThrownBy(() -> Sets.of(DataSet.APPS, file).load())
        .isInstanceOf(TaskDataException.class)
        .hasMessage(
            file
                + ": nothing is left to train on: 2 of 2 rows left out, without tests, such as"
                + " apps_6; add tests to the data");
  }

  @Test
  void load_shareThatHoldsAllOut_isRefused() throws IOException {
    Sets set = gsm8k("one.jsonl", "a").heldOut(new HeldOut.Share(0.5, 1));

    assertThatThrownBy(set::load)
        .isInstanceOf(TaskDataException.class)
        .hasMessage(
            folder.resolve("one.jsonl")
                + ": held_out_share (0.5) leaves none of its 1 prompts to train on; lower it");
  }

  @Test
  void load_orderFileWithHeldOutIds_namesThem() throws IOException {
    Sets set = gsm8k("order.jsonl", "a", "b", "c", "d").heldOut(new HeldOut.Share(0.5, 1));
    List<String> all = List.of("gsm8k_0", "gsm8k_1", "gsm8k_2", "gsm8k_3");

    Task task = set.order(new Ordering.Listed("order.txt", all, 0), 1).load();

    List<String> heldOut = new ArrayList<>(all);
    heldOut.removeAll(task.train().stream().map(prompt -> prompt.id().value()).toList());
    assertThat(heldOut).hasSize(2);
    assertThat(sentences(task))
        .containsExactly(
            "gsm8k: 2 of 4 ids of the order file left out, which name held-out prompts, such as "
                + heldOut.getFirst()
                + "; correct the file of order");
  }

  @Test
  void filter_partOfAMixture_namesTheLimitThatItsSourceHas() throws IOException {
    SourceLimits three = new SourceLimits(3, List.of(), Set.of());
    DataSetTask mixture =
        mixture(
            gsm8k("a.jsonl", "short", "rather longer").alias("a"),
            gsm8k("b.jsonl", "short", "rather longer")
                .alias("b")
                .wording(PromptTemplate.PLAIN, three));

    Task task = room().filter(mixture);

    assertThat(task.train())
        .extracting(Prompt::id)
        .extracting(id -> id.value())
        .containsExactly("a/gsm8k_0", "b/gsm8k_0");
    assertThat(sentences(task))
        .containsExactly(
            "a: 1 of 2 prompts left out, without room for a completion of 5 tokens in a context of"
                + " 16, such as a/gsm8k_1; raise policy.context_length, or lower rollout.max_tokens"
                + " and evaluation.max_tokens",
            "b: 1 of 2 prompts left out, without room for a completion of 3 tokens in a context of"
                + " 16, such as b/gsm8k_1; raise policy.context_length, or lower"
                + " max_completion_tokens");
  }

  @Test
  void filter_dataSetOfAMixtureWithNothingLeft_isRefusedThoughOthersHaveSome() throws IOException {
    DataSetTask mixture =
        mixture(
            gsm8k("a.jsonl", "short").alias("a"),
            gsm8k("b.jsonl", "rather longer", "the longest of all of them")
                .alias("b")
                .cut(new LengthLimits(20, 99, 9)));

    assertThatThrownBy(() -> room().filter(mixture))
        .isInstanceOf(TaskDataException.class)
        .hasMessage(
            "b: nothing is left to train on: 1 of 2 rows left out, with more than 20 characters of"
                + " prompt, such as b/gsm8k_1; raise max_prompt_characters; 1 of 1 prompts left"
                + " out, without room for a completion of 5 tokens in a context of 16, such as"
                + " b/gsm8k_0; raise policy.context_length, or lower rollout.max_tokens and"
                + " evaluation.max_tokens");
  }

  private static DataSetTask mixture(Sets... sets) throws IOException {
    return DataSetTask.mixture(
        Arrays.stream(sets).map(Sets::settings).toList(), new DataSetTask.Mix.Sequential());
  }
}
