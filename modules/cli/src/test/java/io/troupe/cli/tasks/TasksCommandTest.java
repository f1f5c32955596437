package io.troupe.cli.tasks;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.troupe.cli.Main;
import io.troupe.tasks.sets.DataSet;
import io.troupe.tasks.supervised.SupervisedFormat;
import io.troupe.tasks.supervised.SupervisedRow;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.api.parallel.Resources;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The commands about tasks, as a user types them. */
@ResourceLock(Resources.SYSTEM_OUT)
@ResourceLock(Resources.SYSTEM_ERR)
@ResourceLock(Resources.SYSTEM_PROPERTIES)
final class TasksCommandTest {
  private static final Path CONF = Path.of("../../conf");

  @TempDir Path folder;

  /** The exit code and the output of a command. */
  private record Ended(int code, String out, String err) {
    List<String> lines() {
      return out.lines().toList();
    }

    List<JsonNode> objects() throws IOException {
      JsonMapper mapper = new JsonMapper();
      List<JsonNode> objects = new ArrayList<>();
      for (String line : lines()) {
        objects.add(mapper.readTree(line));
      }
      return objects;
    }
  }

  private static Ended tasks(String... arguments) {
    PrintStream out = System.out;
    PrintStream err = System.err;
    ByteArrayOutputStream said = new ByteArrayOutputStream();
    ByteArrayOutputStream complained = new ByteArrayOutputStream();
    System.setOut(new PrintStream(said, true, UTF_8));
    System.setErr(new PrintStream(complained, true, UTF_8));
    try {
      String[] all = new String[arguments.length + 1];
      all[0] = "tasks";
      System.arraycopy(arguments, 0, all, 1, arguments.length);
      int code = Main.commandLine().execute(all);
      return new Ended(code, said.toString(UTF_8), complained.toString(UTF_8));
    } finally {
      System.setOut(out);
      System.setErr(err);
    }
  }

  /** Runs {@link #tasks} below the work tree, where the launcher says it is. */
  private static Ended atHome(String... arguments) {
    String before = System.getProperty("troupe.home", "");
    System.setProperty("troupe.home", CONF.resolve("..").toString());
    try {
      return tasks(arguments);
    } finally {
      if (before.isEmpty()) {
        System.clearProperty("troupe.home");
      } else {
        System.setProperty("troupe.home", before);
      }
    }
  }

  private Path write(String name, String... lines) throws IOException {
    return Files.write(folder.resolve(name), List.of(lines));
  }

  @Test
  void show_expectedAnswersThatAreNotMathematics_areCounted() throws IOException {
    Path rows =
        write(
            "rows.jsonl",
            "{\"id\": \"a\", \"question\": \"a?\", \"answer\": \"\\\\frac{1}{2}\"}",
            "{\"id\": \"b\", \"question\": \"b?\", \"answer\": \"\\\\text{Evelyn}\"}",
            "{\"id\": \"c\", \"question\": \"c?\", \"answer\": \"3 ?? 4\"}");

    Ended ended =
        tasks(
            "show",
            "jsonl",
            "--set",
            "task.file=" + rows,
            "--set",
            "task.verifier=math",
            "--set",
            "task.question={question}",
            "--set",
            "task.held_out_share=0");

    assertThat(ended.out())
        .as(ended.err())
        .containsPattern(
            "1 of 3 expected answers are not read as mathematics and are compared as text, words"
                + " aside, such as \\S+: 3 \\?\\? 4");
  }

  @Test
  void list_json_namesEveryTaskOnceWithItsVerifier() throws IOException {
    Ended ended = tasks("list", "--json");

    assertThat(ended.code()).isZero();
    assertThat(ended.objects())
        .extracting(task -> task.get("name").asText())
        .contains("arithmetic", "jsonl", "mixture")
        .containsAll(Arrays.stream(DataSet.values()).map(DataSet::key).toList())
        .doesNotHaveDuplicates();
    assertThat(ended.objects()).allMatch(task -> !task.path("verifier").asText("").isEmpty());
    assertThat(tasks("list").out()).contains("mbpp", "CC-BY-4.0", "hub openai/gsm8k");
  }

  @ParameterizedTest
  @CsvSource({
    "gsm8k, gsm8k_0",
    "math, math_test_precalculus_807",
    "mbpp, mbpp_1",
    "humaneval, HumanEval/0",
    "ifeval, ifeval_test_1000",
    "ifbench, ifbench_0",
    "arithmetic, add-0-0",
  })
  void show_taskWithDataThatShips_needsNoNetworkAndNoFile(String task, String id)
      throws IOException {
    Ended ended = atHome("show", task, "--limit", "1", "--json");

    assertThat(ended.code()).as(ended.err()).isZero();
    JsonNode shown = ended.objects().getFirst();
    assertThat(shown.get("id").asText()).isEqualTo(id);
    assertThat(shown.get("tokens").asInt())
        .isEqualTo(
            shown.get("prompt").asText().codePointCount(0, shown.get("prompt").asText().length()));
    assertThat(shown.get("answer").asText()).isNotEmpty();
    assertThat(ended.err().contains("these rows ship with troupe"))
        .isEqualTo(!task.equals("arithmetic"));
  }

  @Test
  void show_oneId_printsThePromptItsTokensAndTheExpectedAnswer() {
    Ended ended =
        tasks(
            "show", "gsm8k", "--set", "task.file=" + CONF.resolve("data/gsm8k"), "--id", "gsm8k_3");

    assertThat(ended.code()).as(ended.err()).isZero();
    assertThat(ended.out())
        .contains("task gsm8k: 5,", "verifier gsm8k; 7,473 rows", "── gsm8k_3 · 225 tokens")
        .contains("\nA:\n── expected\n42\n── to imitate\n ")
        .endsWith("The answer is 42.\n");
  }

  @Test
  void show_configuration_hasItsWordingAndTheDataSetsOfAMixture() {
    Ended ended =
        tasks(
            "show",
            "equations",
            "--config",
            CONF.resolve("mixture.yaml").toString(),
            "--limit",
            "1");

    assertThat(ended.code()).as(ended.err()).isZero();
    assertThat(ended.out()).contains("task mixture:", "── equations/math_algebra_");
  }

  @Test
  void show_unknownTaskOrId_saysWhatThereIs() {
    assertThat(atHome("show", "mbpp", "--id", "x"))
        .matches(ended -> ended.code() == 2)
        .matches(ended -> ended.err().contains("no prompt x; ids look like mbpp_1"));
    assertThat(tasks("show", "nonsense"))
        .matches(ended -> ended.code() == 2)
        .matches(ended -> ended.err().contains("must be one of gsm8k, math"));
    assertThat(tasks("show", "aime", "--set", "data.hub=false", "--set", "data.cache=" + folder))
        .matches(ended -> ended.code() == 2)
        .matches(ended -> ended.err().contains("data set aime (AI-MO/aimo-validation-aime"))
        .matches(ended -> ended.err().contains("name their folder in task.file"));
  }

  @Test
  void curriculum_results_ordersIdsByPassRate_andTrainsInThatOrder() throws IOException {
    Path results =
        write(
            "results.jsonl",
            "{\"id\": \"math_algebra_1\", \"reward\": 1.0}",
            "{\"id\": \"math_algebra_0\", \"reward\": 0.0}",
            "{\"id\": \"math_algebra_1\", \"reward\": 0.0}",
            "{\"id\": \"math_algebra_2\", \"reward\": 1.0}");
    Path order = folder.resolve("order.txt");

    Ended ended = tasks("curriculum", "--from", results.toString(), "--output", order.toString());

    assertThat(ended.code()).as(ended.err()).isZero();
    assertThat(order).hasContent("math_algebra_0\nmath_algebra_1\nmath_algebra_2");
    assertThat(tasks("curriculum", "--from", results.toString(), "--descending").lines())
        .containsExactly("math_algebra_2", "math_algebra_1", "math_algebra_0");
    Ended shown =
        tasks(
            "show",
            "math",
            "--set",
            "task.file=" + CONF.resolve("data/linear/train.jsonl"),
            "--set",
            "task.held_out_share=0",
            "--set",
            "task.order=" + order,
            "--json");
    assertThat(shown.objects())
        .extracting(prompt -> prompt.get("id").asText())
        .containsExactly("math_algebra_0", "math_algebra_1", "math_algebra_2");
  }

  @Test
  void sft_results_keepsWhatIsSometimesSolved_asATaskThatLoads() throws IOException {
    Path results =
        write(
            "results.jsonl",
            "{\"id\": \"math_algebra_0\", \"reward\": 1.0, \"completion\": \" right\"}",
            "{\"id\": \"math_algebra_0\", \"reward\": 0.0, \"completion\": \" wrong\"}",
            "{\"id\": \"math_algebra_0\", \"reward\": 0.0, \"completion\": \" bad\"}",
            "{\"id\": \"math_algebra_1\", \"reward\": 1.0, \"completion\": \" always\"}",
            "{\"id\": \"math_algebra_2\", \"reward\": 0.0, \"completion\": \" never\"}");
    Path output = folder.resolve("sft.jsonl");
    String config = CONF.resolve("math.yaml").toString();

    Ended ended =
        tasks("sft", "--from", results.toString(), "--config", config, "--output", output + "");

    assertThat(ended.code()).as(ended.err()).isZero();
    assertThat(ended.out()).isEqualTo("1 examples written to %s%n".formatted(output));
    JsonNode line = new JsonMapper().readTree(Files.readString(output));
    assertThat(line.get("id").asText()).isEqualTo("math_algebra_0");
    assertThat(line.get("completion").asText()).isEqualTo(" right");
    assertThat(line.get("pass_rate").asDouble()).isEqualTo(1 / 3.0);
    Ended shown =
        tasks(
            "show",
            "jsonl",
            "--set",
            "task.file=" + output,
            "--set",
            "task.verifier=math",
            "--set",
            "task.solution_field=completion",
            "--set",
            "task.held_out_share=0",
            "--json");
    assertThat(shown.objects().getFirst().get("solution").asText()).isEqualTo(" right");
  }

  @Test
  void sft_rolloutsOfARun_areRowsThatSupervisedTrainingTakes() throws IOException {
    Path rollouts =
        write(
            "rollouts.jsonl",
            "{\"prompt_id\":\"a\",\"prompt\":\"1+1=\",\"completions\":[\"2\",\"3\"],\"rewards\":[1.0,0.0]}",
            "{\"prompt_id\":\"b\",\"source\":\"sums\",\"prompt\":\"1+2=\",\"completions\":[\"3\",\"9\"],\"rewards\":[1.0,0.0]}");
    Path output = folder.resolve("sft.jsonl");

    Ended ended =
        tasks("sft", "--from", rollouts.toString(), "--max", "1", "--output", output.toString());

    assertThat(ended.code()).as(ended.err()).isZero();
    SupervisedFormat format =
        new SupervisedFormat("messages", "prompt", "completion", "source", false, Set.of());
    assertThat(format.read(List.of(output)))
        .extracting(SupervisedRow::source)
        .containsExactlyInAnyOrder("", "sums");
  }

  @Test
  void sft_idOfAnotherTaskOrNothingInRange_isRefusedWithTheReason() throws IOException {
    String config = CONF.resolve("math.yaml").toString();
    Path stranger =
        write(
            "stranger.jsonl",
            "{\"id\": \"nobody\", \"reward\": 1.0, \"completion\": \"x\"}",
            "{\"id\": \"nobody\", \"reward\": 0.0}",
            "{\"id\": \"nobody\", \"reward\": 0.0}");
    Path solved = write("solved.jsonl", "{\"id\": \"a\", \"reward\": 1.0, \"completion\": \"x\"}");
    String output = folder.resolve("sft.jsonl").toString();

    assertThat(tasks("sft", "--from", stranger + "", "--config", config, "--output", output))
        .matches(ended -> ended.code() == 2)
        .matches(ended -> ended.err().contains("the results name the prompt nobody"));
    assertThat(tasks("sft", "--from", solved + "", "--config", config, "--output", output))
        .matches(ended -> ended.code() == 2)
        .matches(ended -> ended.err().contains("--min and --max may be too narrow"));
    assertThat(Path.of(output)).doesNotExist();
  }
}
