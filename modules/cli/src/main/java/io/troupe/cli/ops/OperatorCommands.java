package io.troupe.cli.ops;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.io.PrintStream;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Orders to a live run; the journal records who gave each order and why. */
public final class OperatorCommands {
  /** The classes of these commands. */
  public static final List<Class<?>> ALL =
      List.of(
          Pause.class,
          Resume.class,
          Requeue.class,
          Cancel.class,
          Checkpoint.class,
          Drain.class,
          Limit.class,
          Restart.class,
          Quarantine.class,
          Release.class,
          Log.class);

  private OperatorCommands() {}

  /** An order whose verb is the command's name. */
  abstract static class Act extends OpsCommand {
    @Spec private CommandSpec spec = CommandSpec.create();

    @Option(names = "--why", description = "The reason, for the journal.")
    private String why = "";

    @Override
    final int run(ConsoleClient client, boolean json, PrintStream out)
        throws IOException, InterruptedException {
      Map<String, Object> body = new LinkedHashMap<>();
      body.put("by", System.getProperty("user.name", "somebody"));
      body.put("why", why);
      body.put("verb", spec.name());
      fill(body);
      JsonNode answer = client.order(body);
      return print(
          answer,
          json,
          out,
          () -> "%s: taken and journalled\n".formatted(answer.path("taken").asText()));
    }

    /** Adds the fields of the order beside its verb. */
    void fill(Map<String, Object> body) {}
  }

  /** An order about one group. */
  abstract static class OfGroup extends Act {
    @Parameters(
        index = "1",
        arity = "0..1",
        hideParamSyntax = true,
        paramLabel = "GROUP",
        description = "Its number.")
    private String group = "";

    @Override
    final List<String> more() {
      return List.of(group);
    }

    @Override
    final List<String> needed() {
      return List.of("GROUP");
    }

    @Override
    final void fill(Map<String, Object> body) {
      body.put("group", number("GROUP", own().getFirst()));
    }
  }

  /** An order about one verifier. */
  abstract static class OfVerifier extends Act {
    @Parameters(
        index = "1",
        arity = "0..1",
        hideParamSyntax = true,
        paramLabel = "VERIFIER",
        description = "Its name, as troupe verifiers shows it.")
    private String verifier = "";

    @Override
    final List<String> more() {
      return List.of(verifier);
    }

    @Override
    final List<String> needed() {
      return List.of("VERIFIER");
    }

    @Override
    final void fill(Map<String, Object> body) {
      body.put("verifier", own().getFirst());
    }
  }

  @Command(
      name = "pause",
      description = "Pauses admission: groups under way finish, nothing new starts.")
  static final class Pause extends Act {}

  @Command(
      name = "resume",
      description = "Resumes admission. (A run that has ended: troupe train --resume.)")
  static final class Resume extends Act {}

  @Command(
      name = "requeue",
      description = "Takes a group back and has it sampled again, first in line.")
  static final class Requeue extends OfGroup {}

  @Command(name = "cancel", description = "Gives a group up for this epoch.")
  static final class Cancel extends OfGroup {}

  @Command(
      name = "checkpoint",
      description = "Saves a checkpoint now, or when the running step ends.")
  static final class Checkpoint extends Act {}

  @Command(
      name = "drain",
      description =
          "Lets groups in flight finish, saves everything and ends the run; or only lets a node, or"
              + " a worker, finish its groups and leave.",
      footer = {
        "",
        "Examples:",
        "  troupe drain --why \"the disk fills\"",
        "  troupe drain node-b",
        "  troupe drain --worker node-b-w1-1-5f2a"
      })
  static final class Drain extends Act {
    @Parameters(
        index = "1",
        arity = "0..1",
        paramLabel = "NODE",
        description = "One node, not the run. Alone it needs no RUN before it.")
    private String node = "";

    @Option(names = "--worker", paramLabel = "WORKER", description = "One worker, not the run.")
    private String worker = "";

    @Override
    List<String> more() {
      return List.of(node);
    }

    @Override
    boolean isOwn(String argument) {
      return !ConsoleClient.isRun(argument);
    }

    @Override
    void fill(Map<String, Object> body) {
      if (!own().isEmpty()) {
        body.put("node", own().getFirst());
      } else if (!worker.isEmpty()) {
        body.put("worker", worker);
      }
    }
  }

  @Command(name = "limit", description = "Bounds the groups under lease at a time.")
  static final class Limit extends Act {
    @Parameters(
        index = "1",
        arity = "0..1",
        hideParamSyntax = true,
        paramLabel = "GROUPS",
        description = "1 to rollout.max_concurrent_groups.")
    private String groups = "";

    @Override
    List<String> more() {
      return List.of(groups);
    }

    @Override
    List<String> needed() {
      return List.of("GROUPS");
    }

    @Override
    void fill(Map<String, Object> body) {
      body.put("groups", number("GROUPS", own().getFirst()));
    }
  }

  @Command(name = "restart", description = "Restarts a rollout worker; its leases are reissued.")
  static final class Restart extends Act {
    @Parameters(
        index = "1",
        arity = "0..1",
        hideParamSyntax = true,
        paramLabel = "WORKER",
        description = "Its name, as troupe nodes shows it.")
    private String worker = "";

    @Override
    List<String> more() {
      return List.of(worker);
    }

    @Override
    List<String> needed() {
      return List.of("WORKER");
    }

    @Override
    void fill(Map<String, Object> body) {
      body.put("worker", own().getFirst());
    }
  }

  @Command(
      name = "quarantine",
      description =
          "Gives a verifier no new completions; the one it is at is judged by another. The last one"
              + " of its pool cannot be put under quarantine.",
      footer = {
        "",
        "Examples:",
        "  troupe quarantine math-2",
        "  troupe quarantine node-b-w1/math-1"
      })
  static final class Quarantine extends OfVerifier {}

  @Command(name = "release", description = "Ends a verifier's quarantine.")
  static final class Release extends OfVerifier {}

  @Command(name = "log", description = "Changes the level of a logger of the run's process.")
  static final class Log extends Act {
    @Parameters(
        index = "1",
        arity = "0..1",
        hideParamSyntax = true,
        paramLabel = "LOGGER",
        description = "Such as io.troupe.")
    private String logger = "";

    @Parameters(
        index = "2",
        arity = "0..1",
        hideParamSyntax = true,
        paramLabel = "LEVEL",
        description = "TRACE to ERROR, or OFF.")
    private String level = "";

    @Override
    List<String> more() {
      return List.of(logger, level);
    }

    @Override
    List<String> needed() {
      return List.of("LOGGER", "LEVEL");
    }

    @Override
    void fill(Map<String, Object> body) {
      body.put("logger", own().getFirst());
      body.put("level", own().getLast());
    }
  }
}
