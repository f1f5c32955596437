package io.troupe.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.troupe.run.compose.TestRuns;
import io.troupe.store.folder.RunFolder;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code troupe eval} on the checkpoints of a run. */
final class EvalCommandTest {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Pattern URL = Pattern.compile("http://127\\.0\\.0\\.1:\\d+");

  @TempDir private static Path trained;
  private static RunFolder run;

  @TempDir private Path folder;

  private static CommandOutput eval(String... arguments) {
    List<String> all = new ArrayList<>(List.of("eval"));
    all.addAll(List.of(arguments));
    return CommandOutput.by(all.toArray(String[]::new));
  }

  @BeforeAll
  static void train() throws Exception {
    String yaml =
        TestRuns.TOY
            + """
            evaluations:
              - {name: sampled, every: 2, prompts: 3, samples: 4, temperature: 1}
              - name: others
                every: 8
                datasets: [{name: arithmetic, min: 0, max: 3}]
            """;
    CommandOutput.ofTraining(trained, yaml, "--json");
    run = TestRuns.only(trained);
  }

  private String in(String name) {
    return folder.resolve(name).toString();
  }

  private List<String> lines(String file) throws IOException {
    return Files.readAllLines(folder.resolve(file));
  }

  /** A server draws by other seeds. */
  private List<String> greedy(String file) throws IOException {
    return lines(file).stream().filter(line -> !line.contains("\"task\":\"sampled\"")).toList();
  }

  private JsonNode summary(String name) throws IOException {
    return JSON.readTree(Files.readString(folder.resolve(name).resolve("summary.json")));
  }

  /** The fields of a sample that this command and a run both write. */
  private record Item(
      String task,
      String id,
      int sample,
      String completion,
      int tokens,
      String finish,
      double reward,
      boolean passed) {
    static Item of(String task, JsonNode completion, JsonNode result) {
      return new Item(
          task,
          completion.path("id").asText(),
          completion.path("sample").asInt(),
          completion.path("completion").asText(),
          completion.path("tokens").asInt(),
          completion.path("finish").asText(),
          result.path("reward").asDouble(),
          result.path("passed").asBoolean());
    }
  }

  private List<Item> itemsOfTheRun(long step) throws IOException {
    List<Item> items = new ArrayList<>();
    for (String line : Files.readAllLines(run.traces().resolve("evaluations.jsonl"))) {
      JsonNode node = JSON.readTree(line);
      if (node.path("step").asLong() == step) {
        items.add(Item.of(node.path("evaluation").asText(), node, node));
      }
    }
    return items;
  }

  private List<Item> items(String evaluation) throws IOException {
    List<String> completions = lines(evaluation + "/completions.jsonl");
    List<String> results = lines(evaluation + "/results.jsonl");
    List<Item> items = new ArrayList<>();
    for (int i = 0; i < completions.size(); i++) {
      JsonNode completion = JSON.readTree(completions.get(i));
      items.add(
          Item.of(completion.path("task").asText(), completion, JSON.readTree(results.get(i))));
    }
    return items;
  }

  /**
   * The greedy answers of a harness outside: the request that lm-eval 0.4.13 (local-completions,
   * generate_until) was recorded to send, two prompts at a time, but for its stop texts, which the
   * toy policy does not know.
   */
  private List<String> ofLmEval(String url, List<String> prompts) throws Exception {
    List<String> texts = new ArrayList<>();
    try (HttpClient client = HttpClient.newHttpClient()) {
      for (int i = 0; i < prompts.size(); i += 2) {
        String body =
            """
            {"prompt": %s, "model": "policy", "max_tokens": 3, "temperature": 0.0, "seed": 1234}\
            """
                .formatted(
                    JSON.writeValueAsString(prompts.subList(i, Math.min(i + 2, prompts.size()))));
        HttpResponse<String> answer =
            client.send(
                HttpRequest.newBuilder(URI.create(url + "/v1/completions"))
                    .header("Content-Type", "application/json")
                    .POST(HttpRequest.BodyPublishers.ofString(body))
                    .build(),
                HttpResponse.BodyHandlers.ofString());
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
        JSON.readTree(answer.body())
            .path("choices")
            .forEach(choice -> texts.add(choice.path("text").asText()));
      }
    }
    return texts;
  }

  /**
   * One checkpoint, measured in the run, by this command, through an HTTP server, and by a harness
   * outside: item for item the same where it is greedy.
   */
  @Test
  void eval_greedy_agreesWithTheRunAndWithAServer() throws Exception {
    JsonNode inTheRun = TestRuns.lines(run).getLast();

    CommandOutput local = eval(run.toString(), "-o", in("local"));

    assertThat(local.code()).as(local.err()).isZero();
    JsonNode tasks = summary("local").path("tasks");
    assertThat(tasks.path(0).path("avg")).isEqualTo(inTheRun.path("eval"));
    assertThat(tasks.path(1).path("avg")).isEqualTo(inTheRun.path("eval_sampled"));
    assertThat(tasks.path(2).path("avg")).isEqualTo(inTheRun.path("eval_others"));
    assertThat(TestRuns.lines(run).stream().filter(row -> row.has("eval_sampled"))).hasSize(5);
    assertThat(TestRuns.lines(run).stream().filter(row -> row.has("eval_others"))).hasSize(2);
    assertThat(items("local"))
        .isEqualTo(itemsOfTheRun(inTheRun.path("step").asLong()))
        .hasSizeGreaterThan(21);
    List<String> prompts = new ArrayList<>();
    List<String> expected = new ArrayList<>();
    for (String line : greedy("local/prompts.jsonl")) {
      prompts.add(JSON.readTree(line).path("prompt").asText());
    }
    for (String line : greedy("local/completions.jsonl")) {
      expected.add(JSON.readTree(line).path("completion").asText());
    }
    assertThat(local.out()).contains("held_out").contains("pass@1");
    try (ChildRun server =
        ChildRun.start(folder, ChildRun.Size.TOY, "serve", run.toString(), "--port", "0")) {
      server.awaitOut(1);
      Matcher url = URL.matcher(server.out().getFirst());
      assertThat(url.find()).as(server.out().getFirst()).isTrue();
      CommandOutput served = eval(run.toString(), "--endpoint", url.group(), "-o", in("served"));
      assertThat(served.code()).as(served.err()).isZero();
      assertThat(ofLmEval(url.group(), prompts)).hasSize(21).isEqualTo(expected);
    }
    assertThat(greedy("served/completions.jsonl")).isEqualTo(greedy("local/completions.jsonl"));
    assertThat(greedy("served/results.jsonl")).hasSize(21).isEqualTo(greedy("local/results.jsonl"));
  }

  @Test
  void eval_shardsOfAVersion_mergeIntoTheWhole() throws Exception {
    String version = run + "@v6";
    String[] sampled = {"--samples", "8", "--k", "1,4"};
    for (String part : List.of("1/2", "2/2")) {
      CommandOutput shard =
          eval(
              version,
              "-o",
              in("s" + part.charAt(0)),
              "--shard",
              part,
              sampled[0],
              sampled[1],
              sampled[2],
              sampled[3]);
      assertThat(shard.code()).as(shard.err()).isZero();
    }

    CommandOutput missing = eval("merge", in("s1"), "-o", in("all"));
    CommandOutput merged = eval("merge", in("s1"), in("s2"), "-o", in("all"));

    assertThat(missing.code()).isEqualTo(4);
    assertThat(missing.err()).contains("shard 2/2 is missing");
    assertThat(merged.code()).as(merged.err()).isZero();
    JsonNode task = summary("all").path("tasks").path(0);
    assertThat(task.path("samples").asInt()).isEqualTo(40);
    assertThat(task.path("pass").path("4").asDouble())
        .isGreaterThanOrEqualTo(task.path("pass").path("1").asDouble());
    assertThat(summary("all").path("protocol").path("policy").path("version").asInt()).isEqualTo(6);
  }

  /** Servers answer once. */
  @Test
  void eval_taskWithToolsAtAServer_isRefusedWithTheWayOut() throws Exception {
    Path file =
        Files.writeString(
            folder.resolve("tools.yaml"),
            """
            tasks:
              - name: tools
                episode: {environment: {name: calculator}, max_turns: 2}
                datasets: [{name: arithmetic, min: 0, max: 3}]
            """);
    String server = "http://127.0.0.1:1";
    CommandOutput served =
        eval(
            run.toString(),
            file.toString(),
            "--endpoint",
            server,
            "--model",
            "m",
            "-o",
            in("served"));
    assertThat(served.code()).isEqualTo(2);
    assertThat(served.err()).contains("task tools: episode: servers are asked for single answers");
    assertThat(folder.resolve("served")).doesNotExist();
  }

  @Test
  void eval_modelByName_isLookedForWhereModelsAre() {
    String[] asked = {"no-such-owner/model", "--task", "arithmetic", "-o", in("e")};

    CommandOutput nowhere =
        eval(asked[0], asked[1], asked[2], asked[3], asked[4], "--set", "data.hub=false");

    assertThat(nowhere.code()).isEqualTo(4);
    assertThat(nowhere.err())
        .contains("model no-such-owner/model is not to be had")
        .contains("not in the cache")
        .contains("troupe models fetch no-such-owner/model");
    assertThat(eval(asked[0], "-o", in("e")).err()).contains("give FILE or --task");
  }

  @ParameterizedTest
  @ValueSource(strings = {"3", "0/3", "4/3", "1/2/3", "1/", "a/b", "1/9999999999"})
  void eval_shardThatIsNone_isRefused(String shard) {
    CommandOutput refused = eval(run.toString(), "-o", in("e"), "--shard", shard);

    assertThat(refused.code()).isEqualTo(2);
    assertThat(refused.err())
        .contains("--shard is I/N with I from 1 to N, such as 2/4, not " + shard);
  }

  @Test
  void eval_badUsage_isRefusedWithTheNextStep() {
    assertThat(eval("nothing-here", "-o", in("e")).code()).isEqualTo(2);
    assertThat(eval("nothing-here").err()).contains("give -o DIR");
    assertThat(eval("-o", in("e")).err()).contains("give WHAT to evaluate");
    assertThat(folder.resolve("e")).doesNotExist();
  }
}
