package io.troupe.aws.ec2;

import io.troupe.store.file.StoreJson;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Option;

/** Options of every command about clusters on EC2. */
final class Ec2Options {
  @CommandLine.Spec(CommandLine.Spec.Target.MIXEE)
  private CommandLine.Model.@Nullable CommandSpec spec;

  @Option(
      names = "--file",
      paramLabel = "FILE",
      required = true,
      description = "What the cluster consists of; conf/ec2-2x8.yaml is an example.")
  private Path file = Path.of("");

  @Option(names = "--set", paramLabel = "KEY=VALUE", description = "Overrides a key of FILE.")
  private List<String> overrides = new ArrayList<>();

  @Option(
      names = "--state",
      paramLabel = "DIR",
      description = "What is remembered of clusters (~/.troupe/ec2).")
  private String state = "";

  @Option(
      names = "--aws-endpoint",
      paramLabel = "URL",
      description = "Server that speaks EC2 and STS, other than Amazon's.")
  private String endpoint = "";

  @Option(names = "--dry-run", description = "Say what would be done; change nothing.")
  boolean dryRun;

  @Option(
      names = "--poll",
      paramLabel = "SECONDS",
      defaultValue = "5",
      description = "Pause between two looks at EC2 (${DEFAULT-VALUE}).")
  private double poll = 5;

  @Option(names = "--json", description = "One JSON object on standard output.")
  private boolean json;

  Ec2File load() {
    return Ec2File.load(file, overrides);
  }

  ClusterFolder folder() throws IOException {
    return new ClusterFolder(
        state.isEmpty()
            ? Path.of(System.getProperty("user.home"), ".troupe", "ec2")
            : Path.of(state));
  }

  SdkEc2 service(Ec2File loaded) {
    return new SdkEc2(loaded.region(), endpoint);
  }

  /** The result: a sentence for people, or the object. */
  void answer(String sentence, Map<String, Object> object) throws IOException {
    PrintWriter out = command().getOut();
    out.println(json ? StoreJson.LINE.writeValueAsString(object) : sentence);
    out.flush();
  }

  /** A line about what happens; not part of the result. */
  void say(String line) {
    command().getErr().println(line);
    command().getErr().flush();
  }

  CommandLine.ParameterException bad(String rule) {
    return new CommandLine.ParameterException(command(), rule);
  }

  private CommandLine command() {
    if (spec == null) {
      throw new IllegalStateException("picocli sets the spec of a mixin");
    }
    return spec.commandLine();
  }

  ClusterDriver.Surroundings surroundings() {
    return new ClusterDriver.Surroundings() {
      @Override
      public long nowMillis() {
        return System.currentTimeMillis();
      }

      @Override
      public void pause(Duration time) throws InterruptedException {
        Thread.sleep(time);
      }

      @Override
      public RandomGenerator random() {
        return RandomGenerator.getDefault();
      }

      @Override
      public Duration lookAgain() {
        return Duration.ofMillis(Math.round(poll * 1000));
      }

      @Override
      public void say(String line) {
        Ec2Options.this.say(line);
      }
    };
  }
}
