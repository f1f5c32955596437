package io.troupe.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.troupe.run.compose.TestRuns;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine;

/**
 * The exit code and the output of a command that was run within this process. What it writes to the
 * process's own streams is not among it.
 */
public record CommandOutput(int code, String out, String err) {
  private static final ObjectMapper JSON = new ObjectMapper();

  /** Runs a command. */
  public static CommandOutput by(String... arguments) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    CommandLine command = Main.commandLine();
    command.setOut(new PrintWriter(out)).setErr(new PrintWriter(err));
    int code = command.execute(arguments);
    return new CommandOutput(code, out.toString(), err.toString());
  }

  /** Runs a command that must end with a code. */
  public static CommandOutput ending(int code, String... arguments) {
    CommandOutput output = by(arguments);
    assertThat(output.code()).as(output.out() + output.err()).isEqualTo(code);
    return output;
  }

  /** Makes the only run of a folder again within this process; what is found must have a code. */
  static JsonNode ofReplay(Path where, int code, String... more) throws IOException {
    List<String> arguments =
        new ArrayList<>(List.of("replay", TestRuns.only(where).path().toString(), "--json"));
    arguments.addAll(List.of(more));
    return ending(code, arguments.toArray(String[]::new)).json();
  }

  /** Standard output, which is one object. */
  JsonNode json() throws IOException {
    return JSON.readTree(out);
  }

  /** Trains to the end within this process, in the {@code runs} of a folder. */
  static void ofTraining(Path where, String yaml, String... options) throws IOException {
    List<String> arguments = new ArrayList<>(List.of("train", TestRuns.write(where, yaml)));
    arguments.addAll(List.of("--set", "run.folder=" + where.resolve("runs")));
    arguments.addAll(List.of(options));
    requireDone(arguments);
  }

  /** Resumes the only run of a folder within this process, up to a step. */
  static void ofResume(Path where, long steps) throws IOException {
    String run = TestRuns.only(where).path().toString();
    requireDone(List.of("train", "--resume", run, "--set", "training.steps=" + steps));
  }

  private static void requireDone(List<String> arguments) {
    ending(0, arguments.toArray(String[]::new));
  }
}
