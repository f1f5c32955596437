package io.troupe.cli.tasks;

import io.troupe.base.process.ExitCode;
import io.troupe.cli.command.CliCommand;
import io.troupe.cli.command.OverrideOption;
import io.troupe.config.RunConfig;
import io.troupe.config.binding.ConfigurationFile;
import io.troupe.config.schema.Doc;
import io.troupe.config.task.DataSection;
import io.troupe.config.task.TaskSection;
import io.troupe.core.prompt.LiteralMark;
import io.troupe.core.prompt.Prompt;
import io.troupe.engine.CharacterTokenizer;
import io.troupe.engine.TokenPieces;
import io.troupe.engine.Tokenizer;
import io.troupe.run.compose.Composition;
import io.troupe.run.session.JsonText;
import io.troupe.run.task.DataSummary;
import io.troupe.run.task.TaskLoader;
import io.troupe.tasks.DataSetTask;
import io.troupe.tasks.PromptTemplate;
import io.troupe.tasks.Task;
import io.troupe.tasks.TaskSource;
import io.troupe.tasks.rows.TaskDataException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code troupe tasks show}: prompts as the model sees them, and what is expected of it. */
@Command(
    name = "show",
    description = {
      "Prints a task's prompts as the model sees them, with their tokens and the expected answer.",
      "Tokens are those of the configuration's policy, shown piece by piece, special ones in ⟦⟧;"
          + " without a configuration, characters.",
      "Without --config, task.file and data keys, rows that ship with troupe are shown if there are"
          + " any; without those, rows of the cache and the places it is filled from."
    },
    footer = {
      "",
      "Examples:",
      "  troupe tasks show mbpp --id mbpp_700",
      "  troupe tasks show math --set task.file=my/problems.parquet --limit 2"
    })
final class TasksShowCommand extends CliCommand {
  /** The section of a configuration that a task needs. */
  record TaskConfig(
      @Doc("What the policy learns.") TaskSection task,
      @Doc("Where published data sets are found.") DataSection data) {}

  @Parameters(index = "0", paramLabel = "TASK", description = "Name, as in troupe tasks list.")
  private @Nullable String name;

  @Option(
      names = "--config",
      paramLabel = "FILE",
      description = "Configuration of a run, whose task must be TASK or have a data set TASK.")
  private @Nullable Path config;

  @Option(names = "--id", paramLabel = "ID", description = "Only this prompt.")
  private @Nullable String id;

  @Option(
      names = "--limit",
      paramLabel = "N",
      description = "Most prompts printed; default ${DEFAULT-VALUE}.")
  private int limit = 3;

  @Mixin private OverrideOption overrides = new OverrideOption();

  @Option(names = "--json", description = "One JSON object a prompt instead of text.")
  private boolean json;

  /**
   * A task and the tokenizer of its prompts.
   *
   * @param ofPolicy whether the tokenizer is that of a policy
   */
  private record Loaded(Task task, Tokenizer tokenizer, boolean ofPolicy) {}

  @Override
  public Integer call() throws IOException {
    String wanted = Objects.requireNonNull(name).replace('-', '_');
    Loaded loaded = config == null ? alone(wanted) : configured(config);
    Task task = loaded.task();
    boolean whole = task.name().equals(wanted) || wanted.equals("mixture");
    List<Prompt> shown =
        Stream.concat(task.train().stream(), task.heldOut().stream())
            .filter(prompt -> whole || prompt.source().replace('-', '_').equals(wanted))
            .filter(prompt -> id == null || prompt.id().value().equals(id))
            .limit(limit)
            .toList();
    if (shown.isEmpty()) {
      throw new TaskDataException(
          id == null
              ? "task %s has no data set %s; it has %s"
                  .formatted(
                      task.name(),
                      wanted,
                      String.join(", ", task.sources().stream().map(TaskSource::name).toList()))
              : "task %s has no prompt %s; ids look like %s"
                  .formatted(task.name(), id, task.train().getFirst().id()));
    }
    if (!json) {
      header(task);
    }
    shown.forEach(prompt -> print(prompt, loaded));
    return ExitCode.OK.code();
  }

  private Loaded alone(String wanted) throws IOException {
    Optional<Path> shipped =
        BundledData.isWanted(overrides.values()) ? BundledData.of(wanted) : Optional.empty();
    List<String> settings = new ArrayList<>();
    shipped.ifPresent(
        file -> {
          settings.add("task.file=" + file);
          settings.add("task.split=all");
          settings.add("task.held_out_share=0");
          System.err.println("note: these rows ship with troupe: " + file);
        });
    settings.addAll(overrides.values());
    TaskConfig bound =
        ConfigurationFile.bind(
                TaskConfig.class,
                Path.of("command line"),
                "task: {name: %s}\n".formatted(wanted),
                settings)
            .config();
    DataSetTask task =
        TaskLoader.of(bound.task(), bound.data(), 1, PromptTemplate.noTemplate()).load();
    return new Loaded(task, new CharacterTokenizer(task.alphabet()), false);
  }

  private Loaded configured(Path file) throws IOException {
    Composition composition =
        Composition.described(RunConfig.load(file, overrides.values()).config());
    return new Loaded(composition.task(), composition.tokenizer(), true);
  }

  private static void header(Task task) {
    System.out.printf(
        "task %s: %,d prompts to train on, %,d held out, %s%n",
        task.name(),
        task.train().size(),
        task.heldOut().size(),
        switch (task.order()) {
          case SHUFFLED -> "shuffled in every epoch";
          case LISTED -> "in the listed order";
        });
    for (TaskSource source : task.sources()) {
      System.out.printf(
          "  %s: verifier %s; %,d rows%s%n",
          source.name(),
          source.verifier(),
          source.report().rows(),
          source.limits().stop().isEmpty()
              ? ""
              : "; stops at " + new JsonText().line(source.limits().stop()));
    }
    DataSummary.ofRows(task).forEach(line -> System.out.println("  " + line));
  }

  private static TokenPieces imitated(Prompt prompt, Loaded loaded) {
    TaskSource source =
        loaded.task().sources().stream()
            .filter(each -> each.name().equals(prompt.source()))
            .findFirst()
            .orElseThrow();
    int[] said = loaded.tokenizer().encode(prompt.solution());
    int[] end = source.end().ids(loaded.tokenizer());
    int[] ids = Arrays.copyOf(said, said.length + end.length);
    System.arraycopy(end, 0, ids, said.length, end.length);
    return TokenPieces.of(ids, loaded.tokenizer());
  }

  private void print(Prompt prompt, Loaded loaded) {
    Tokenizer tokenizer = loaded.tokenizer();
    int[] ids = tokenizer.encodeWithSpecial(prompt.text());
    if (json) {
      Map<String, Object> line = new LinkedHashMap<>();
      line.put("id", prompt.id().value());
      line.put("source", prompt.source());
      line.put("tokens", ids.length);
      if (loaded.ofPolicy()) {
        line.put("token_ids", ids);
      }
      line.put("prompt", LiteralMark.removed(prompt.text()));
      line.put("answer", prompt.answer());
      line.put("solution", prompt.solution());
      System.out.println(new JsonText().line(line));
      return;
    }
    System.out.printf(
        "%n── %s · %d tokens%n%s%n", prompt.id(), ids.length, LiteralMark.removed(prompt.text()));
    if (loaded.ofPolicy()) {
      System.out.printf("── as tokens%n%s%n", TokenPieces.of(ids, tokenizer).text());
    }
    System.out.printf("── expected%n%s%n", prompt.answer());
    if (!prompt.solution().isEmpty()) {
      System.out.printf("── to imitate%n%s%n", prompt.solution());
      if (loaded.ofPolicy()) {
        System.out.printf("── as tokens, all learnt%n%s%n", imitated(prompt, loaded).text());
      }
    }
  }
}
