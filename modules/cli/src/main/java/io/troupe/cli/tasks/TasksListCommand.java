package io.troupe.cli.tasks;

import io.troupe.base.process.ExitCode;
import io.troupe.cli.command.CliCommand;
import io.troupe.run.session.JsonText;
import io.troupe.tasks.sets.DataSet;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code troupe tasks list}: every task by name. */
@Command(
    name = "list",
    description =
        "Lists every task: what it is, its verifier, sizes, licence, and where it is from.")
final class TasksListCommand extends CliCommand {
  @Option(names = "--json", description = "One JSON object a task instead of text.")
  private boolean json;

  @Override
  public Integer call() {
    JsonText text = new JsonText();
    for (Map<String, Object> task : tasks()) {
      if (json) {
        System.out.println(text.line(task));
      } else {
        System.out.printf(
            "%-12s %s%n%12s verifier %s · %s · %s · %s%n",
            task.get("name"),
            task.get("what"),
            "",
            task.get("verifier"),
            task.get("sizes"),
            task.get("licence"),
            task.get("source"));
      }
    }
    return ExitCode.OK.code();
  }

  static List<Map<String, Object>> tasks() {
    List<Map<String, Object>> tasks = new ArrayList<>();
    tasks.add(
        task(
            "arithmetic",
            "Sums, differences and products of two numbers",
            "numeric",
            "every pair of a range",
            "none needed",
            "calculated"));
    for (DataSet set : DataSet.values()) {
      Map<String, Object> task =
          task(
              set.key(),
              set.about().what(),
              set.about().verifier(),
              set.about().sizes(),
              set.about().licence(),
              "hub " + set.home().repository());
      task.put("max_tokens", set.answers().maxTokens());
      task.put("stop", set.answers().stop());
      tasks.add(task);
    }
    tasks.add(
        task("jsonl", "A data set of your own", "task.verifier", "yours", "yours", "task.file"));
    tasks.add(
        task(
            "mixture",
            "Several of these, by weight or one after the other",
            "each data set's own",
            "their sum",
            "theirs",
            "task.datasets"));
    return tasks;
  }

  private static Map<String, Object> task(
      String name, String what, String verifier, String sizes, String licence, String source) {
    Map<String, Object> task = new LinkedHashMap<>();
    task.put("name", name);
    task.put("what", what);
    task.put("verifier", verifier);
    task.put("sizes", sizes);
    task.put("licence", licence);
    task.put("source", source);
    return task;
  }
}
