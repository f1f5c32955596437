package io.troupe.aws.client;

import com.fasterxml.jackson.core.JsonProcessingException;
import io.troupe.base.clock.Surroundings;
import io.troupe.store.file.StoreJson;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Option;

/** Options of every command that uses one of Amazon's services. */
public abstract class AwsOptions {
  @CommandLine.Spec(CommandLine.Spec.Target.MIXEE)
  private CommandLine.Model.@Nullable CommandSpec spec;

  @Option(
      names = "--state",
      paramLabel = "DIR",
      description = "What is remembered of what these commands made (in ~/.troupe).")
  private String state = "";

  @Option(
      names = "--aws-endpoint",
      paramLabel = "URL",
      description = "Server that speaks the service's protocol, other than Amazon's.")
  private String endpoint = "";

  @Option(
      names = "--poll",
      paramLabel = "SECONDS",
      defaultValue = "5",
      description = "Pause between two looks at the service (${DEFAULT-VALUE}).")
  private double poll = 5;

  @Option(names = "--json", description = "One JSON object on standard output.")
  private boolean json;

  /** Clients in a region. */
  public AwsClients clients(String region) {
    return new AwsClients(region, endpoint);
  }

  /**
   * The folder of what is remembered.
   *
   * @param service owner of the folder
   */
  public Path state(String service) {
    return state.isEmpty()
        ? Path.of(System.getProperty("user.home"), ".troupe", service)
        : Path.of(state);
  }

  /** Whether standard output is for the result as an object, and nothing else. */
  public boolean json() {
    return json;
  }

  /** The result: a sentence for people, or the object. */
  public void answer(String sentence, Map<String, ?> object) {
    PrintWriter out = command().getOut();
    out.println(json ? text(object) : sentence);
    out.flush();
  }

  private static String text(Map<String, ?> object) {
    try {
      return StoreJson.LINE.writeValueAsString(object);
    } catch (JsonProcessingException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  /** A line about what happens; not part of the result. */
  public void say(String line) {
    command().getErr().println(line);
    command().getErr().flush();
  }

  /** Returns the exception that refuses the command line with a sentence and exit code 2. */
  public CommandLine.ParameterException bad(String rule) {
    return new CommandLine.ParameterException(command(), rule);
  }

  /** Time and chance of this process. */
  public Surroundings surroundings() {
    return Surroundings.ofProcess(Duration.ofMillis(Math.round(poll * 1000)), this::say);
  }

  private CommandLine command() {
    if (spec == null) {
      throw new IllegalStateException("picocli sets the spec of a mixin");
    }
    return spec.commandLine();
  }
}
