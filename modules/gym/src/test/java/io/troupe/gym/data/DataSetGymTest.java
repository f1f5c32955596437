package io.troupe.gym.data;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.troupe.config.binding.ConfigurationException;
import io.troupe.config.binding.ConfigurationFile;
import io.troupe.gym.config.GymConfig;
import io.troupe.gym.config.GymTaskSection;
import io.troupe.gym.item.GymItem;
import io.troupe.gym.item.RowForm;
import io.troupe.tasks.rows.TaskDataException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Gym tasks over the data sets that Troupe reads. */
class DataSetGymTest {
  private static final Path CONF = Path.of("../../conf").toAbsolutePath().normalize();
  private static final ObjectMapper JSON = new ObjectMapper();

  @TempDir private Path root;

  private GymConfig config(String task, String... more) {
    String text =
        """
        trials: {seeds: [1], arms: [open_ended], iterations: 1}
        task:
          name: datasets
        %s
        model: {provider: openai, url: "http://127.0.0.1:1/v1", model: m}
        policy: {engine: pretrained, checkpoint: tiny, context_length: 64}
        student: {trainer: sft, recipe: recipe.yaml}
        """
            .formatted(task.indent(2));
    return ConfigurationFile.bind(GymConfig.class, root.resolve("gym.yaml"), text, List.of(more))
        .config();
  }

  private DataSetGym load(String task) throws Exception {
    return GymDataSets.load((GymTaskSection.Datasets) config(task).task());
  }

  private void rows(String file, String... rows) throws IOException {
    Files.write(root.resolve(file), List.of(rows));
  }

  @Test
  void load_mathAsShipped_slicesBySubjectAndLevelAndJudgesSolutions() throws Exception {
    try (DataSetGym gym =
        load(
            """
            skills: [subject, level]
            validation: [{name: math, file: %1$s/data/math500/test.jsonl.gz, rows: 20}]
            test: [{name: math, file: %1$s/data/math500/test.jsonl.gz, subjects: [geometry], levels: [5], rows: 1}]
            """
                .formatted(CONF))) {
      assertThat(gym.validation()).hasSize(20).allMatch(item -> !item.subskill().isEmpty());
      GymItem first = gym.validation().getFirst();
      assertThat(gym.form(first.skill())).isEqualTo(RowForm.MATH);
      RowForm.Written row =
          RowForm.MATH.of(
              JSON.readTree(
                  "{\"problem\":\"Half of 9?\",\"solution\":\"9/2\",\"answer\":\"4.5\"}"));
      assertThat(row.response())
          .isEqualTo("9/2\nFinal Answer: The final answer is $\\boxed{ 4.5 }$.");
      GymItem made = gym.item(first.skill(), "1", row.problem(), "\\frac{9}{2}");
      assertThat(gym.passes(made, row.response())).isTrue();
      assertThat(gym.passes(made, "\\boxed{5}")).isFalse();
    }
  }

  @Test
  void load_gsm8kAndMbpp_haveTheFormsOfTheirVerifiers() throws Exception {
    try (DataSetGym gym =
        load(
            """
            skills: [source]
            validation:
              - {name: gsm8k, file: %1$s/data/gsm8k/train.jsonl.gz, rows: 3}
              - {name: mbpp, file: %1$s/data/mbpp/mbpp.jsonl.gz, split: validation, rows: 2}
            test:
              - {name: ifeval, file: %1$s/data/ifeval/input_data.jsonl.gz, rows: 2}
              - {name: humaneval, file: %1$s/data/humaneval/test.jsonl.gz, rows: 2}
            """
                .formatted(CONF))) {
      assertThat(gym.form("gsm8k")).isEqualTo(RowForm.GSM8K);
      assertThat(gym.form("mbpp")).isEqualTo(RowForm.CODE);
      assertThat(List.of("ifeval", "humaneval"))
          .allMatch(source -> gym.form(source) == RowForm.GIVEN);
      RowForm.Written sum =
          RowForm.GSM8K.of(
              JSON.readTree("{\"problem\":\"2 and 3?\",\"solution\":\"2+3\",\"answer\":\"5\"}"));
      assertThat(gym.passes(gym.item("gsm8k", "", "2 and 3?", sum.answer()), sum.response()))
          .isTrue();
      RowForm.Written code =
          RowForm.CODE.of(
              JSON.readTree(
                  "{\"problem\":\"p\",\"solution\":\"def f(): pass\",\"tests\":\"assert f()\\n\\nassert 1\"}"));
      assertThat(code.answer())
          .isEqualTo("{\"tests\":[\"assert f()\",\"assert 1\"],\"setup\":\"\"}");
      assertThat(code.response()).isEqualTo("def f(): pass\n[DONE]");
    }
  }

  @Test
  void load_multipleChoiceAndOpenAnswers_areJudgedByTheirVerifiers() throws Exception {
    rows("choice.jsonl", "{\"id\":\"c\",\"prompt\":\"A) x B) y\",\"answer\":\"B\"}");
    rows("open.jsonl", "{\"id\":\"o\",\"prompt\":\"Colour?\",\"answer\":\"red\\ndark red\"}");
    try (DataSetGym gym =
        load(
            """
            skills: [source]
            validation: [{name: jsonl, alias: choice, file: choice.jsonl, verifier: choice}]
            test: [{name: jsonl, alias: open, file: open.jsonl, verifier: text}]
            """)) {
      assertThat(gym.passes(gym.validation().getFirst(), "The answer is (B).")).isTrue();
      assertThat(gym.passes(gym.test().getFirst(), "dark red")).isTrue();
      assertThat(gym.passes(gym.test().getFirst(), "blue")).isFalse();
      assertThat(gym.item("open", "", "colour? ", "red").id())
          .isEqualTo(gym.test().getFirst().id());
    }
  }

  @Test
  void load_splitsThatShareItems_namesThem() throws Exception {
    rows("a.jsonl", row("1", "One?"), row("2", "Two?"), row("3", "Three?"));
    rows("b.jsonl", row("2", "Other?"), row("9", "three? "), row("8", "Eight?"));
    assertThatThrownBy(
            () ->
                load(
                    """
                    skills: [source]
                    validation: [{name: jsonl, file: a.jsonl, verifier: text}]
                    test: [{name: jsonl, file: b.jsonl, verifier: text}]
                    """))
        .isInstanceOf(TaskDataException.class)
        .hasMessage(
            "task.validation and task.test must be held apart, and share 2 items: 2, 9 (by its"
                + " text); take other rows, splits or files for one of them");
  }

  private static String row(String id, String prompt) {
    return "{\"id\":\"%s\",\"prompt\":\"%s\",\"answer\":\"1\"}".formatted(id, prompt);
  }

  @Test
  void load_rowsWithoutTheFacet_areNamed() throws Exception {
    rows("a.jsonl", row("1", "One?"));
    rows("b.jsonl", row("2", "Two?"));
    assertThatThrownBy(
            () ->
                load(
                    """
                    skills: [level]
                    validation: [{name: jsonl, file: a.jsonl, verifier: text}]
                    test: [{name: jsonl, file: b.jsonl, verifier: text}]
                    """))
        .isInstanceOf(TaskDataException.class)
        .hasMessageContaining("task.skills: the row 1 has no level");
  }

  @Test
  void config_wrongKeys_areNamedWithTheirRules() {
    String task =
        """
        skills: [source]
        validation: [{name: gsm8k, template: chat}]
        test: [{name: gsm8k, split: test}]
        """;
    assertThatThrownBy(() -> config(task, "trials.arms=[weakness]", "student.trainer=steps"))
        .isInstanceOf(ConfigurationException.class)
        .hasMessageContaining("trials.arms: must not be weakness, uniform or random")
        .hasMessageContaining("must have template: raw")
        .hasMessageContaining("student.trainer: must be sft, grpo or llama_factory");
    assertThatThrownBy(() -> config(task, "trials.arms=[old_rows]", "model.provider=none"))
        .hasMessageContaining("trials.arms: must not be old_rows")
        .hasMessageContaining("model.provider: must name a language model");
  }
}
