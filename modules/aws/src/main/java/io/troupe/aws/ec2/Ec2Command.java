package io.troupe.aws.ec2;

import io.troupe.aws.client.AwsException;
import io.troupe.aws.client.RecordFolder;
import io.troupe.aws.ec2.plan.ClusterGoal;
import io.troupe.aws.ec2.plan.ClusterInstance;
import io.troupe.aws.ec2.plan.ClusterPart;
import io.troupe.aws.ec2.plan.ClusterPlan;
import io.troupe.aws.ec2.plan.ClusterRecord;
import io.troupe.aws.ec2.plan.ClusterStep;
import io.troupe.aws.ec2.plan.Ec2File;
import io.troupe.aws.ec2.plan.ObservedCluster;
import io.troupe.base.process.ExitCode;
import io.troupe.launch.CommandGroup;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.time.Duration;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code troupe ec2}: clusters of EC2 instances for {@code troupe launch}. */
@Command(
    name = "ec2",
    subcommands = OrphansCommand.class,
    description = {
      "Creates, shows, resizes, stops and deletes clusters of EC2 instances.",
      "Safe to repeat: a command that was cut off continues, and launches nothing twice."
    },
    footer = {
      "",
      "Examples:",
      "  troupe ec2 create lab --file conf/ec2-2x8.yaml --dry-run",
      "  troupe ec2 create lab --file conf/ec2-2x8.yaml",
      "  troupe launch up conf/16-gpu.yaml --hosts lab.hosts",
      "  troupe ec2 status lab --file conf/ec2-2x8.yaml",
      "  troupe ec2 delete lab --file conf/ec2-2x8.yaml"
    })
public final class Ec2Command extends CommandGroup {
  private static final String NAME = "NAME";

  @Command(
      name = "create",
      mixinStandardHelpOptions = true,
      description = {
        "Launches the instances, waits until they pass EC2's checks, answer ssh and have run their"
            + " setup, copies JDK and build, and writes the hosts file.",
        "If it fails, it deletes what it made, unless the cluster was complete before or --keep is"
            + " given. Starts the instances of a stopped cluster."
      })
  int create(
      @Parameters(index = "0", paramLabel = NAME, description = "Of the cluster.") String name,
      @Mixin Ec2Options options,
      @Option(names = "--keep", description = "After a failure, delete nothing.") boolean keep,
      @Mixin PreparationOptions preparation)
      throws IOException, InterruptedException {
    Ec2File file = options.load();
    return new ClusterSizing(name, options, preparation, keep).reach(file, file.count());
  }

  @Command(
      name = "scale",
      mixinStandardHelpOptions = true,
      description =
          "Launches or terminates instances until there are COUNT. The last launched go first; the"
              + " coordinator's stays.")
  int scale(
      @Parameters(index = "0", paramLabel = NAME, description = "Of the cluster.") String name,
      @Parameters(index = "1", paramLabel = "COUNT", description = "Instances.") int count,
      @Mixin Ec2Options options,
      @Mixin PreparationOptions preparation)
      throws IOException, InterruptedException {
    if (count < 1) {
      throw options.bad("COUNT must be 1 or greater; to end the cluster, use delete");
    }
    if (options.folder().read(name).isEmpty()) {
      throw options.bad("no cluster %s is known here; create it first".formatted(name));
    }
    return new ClusterSizing(name, options, preparation, true).reach(options.load(), count);
  }

  static int preview(
      Ec2Options options, ClusterPlan plan, ClusterGoal goal, ClusterRecord known, SdkEc2 service)
      throws AwsException, IOException {
    ObservedCluster observed = service.observe(known);
    ClusterStep first = plan.next(goal, known, observed, System.currentTimeMillis());
    Map<String, Object> answer = ClusterReport.description(known.name(), plan.file(), observed);
    answer.put("first_step", first.words());
    if (goal instanceof ClusterGoal.Deleted) {
      options.say("would delete " + ClusterReport.remains(known, observed));
    }
    options.answer("would first " + first.words(), answer);
    return ExitCode.OK.code();
  }

  @Command(
      name = "status",
      mixinStandardHelpOptions = true,
      description = {
        "Shows the instances, since when they run, and what they have cost by the prices in the"
            + " file.",
        "Exit code 3 unless every instance passes EC2's checks."
      })
  int status(
      @Parameters(index = "0", paramLabel = NAME, description = "Of the cluster.") String name,
      @Mixin Ec2Options options,
      @Option(
              names = "--enforce",
              description =
                  "With on_budget: stop, stops the instances once they have cost more than the"
                      + " budget; for a timer.")
          boolean enforce)
      throws IOException, InterruptedException {
    Ec2File file = options.load();
    ClusterRecord known = known(name, options);
    try (SdkEc2 service = options.service(file)) {
      ObservedCluster observed = service.observe(known);
      Map<String, Object> answer = ClusterReport.description(name, file, observed);
      if (enforce
          && file.budget().onBudget() == Ec2File.OnBudget.STOP
          && file.budget().passed(ClusterReport.cost(file, observed))) {
        options.say("the budget is passed; stops the instances");
        return end(name, options, new ClusterGoal.Stopped());
      }
      options.answer(ClusterReport.table(file, observed), answer);
      boolean ready =
          !observed.live().isEmpty() && observed.live().stream().allMatch(ClusterInstance::ready);
      return (ready ? ExitCode.OK : ExitCode.UNREACHABLE).code();
    }
  }

  @Command(
      name = "stop",
      mixinStandardHelpOptions = true,
      description = "Stops the instances; their volumes stay and are paid for. create starts them.")
  int stop(
      @Parameters(index = "0", paramLabel = NAME, description = "Of the cluster.") String name,
      @Mixin Ec2Options options)
      throws IOException, InterruptedException {
    return end(name, options, new ClusterGoal.Stopped());
  }

  @Command(
      name = "delete",
      mixinStandardHelpOptions = true,
      description =
          "Terminates the instances with their volumes, and deletes volumes and network interfaces"
              + " that somebody detached, and the placement group.")
  int delete(
      @Parameters(index = "0", paramLabel = NAME, description = "Of the cluster.") String name,
      @Mixin Ec2Options options)
      throws IOException, InterruptedException {
    RecordFolder<ClusterRecord> folder = options.folder();
    if (folder.read(name).isEmpty()) {
      options.answer(
          "no cluster %s is known here; nothing to delete".formatted(name),
          Map.of("cluster", name, "live", 0));
      return ExitCode.OK.code();
    }
    int code = end(name, options, new ClusterGoal.Deleted());
    if (!options.dryRun) {
      forget(name, folder, options);
    }
    return code;
  }

  static void forget(String name, RecordFolder<ClusterRecord> folder, Ec2Options options)
      throws IOException {
    folder.forget(name);
    Files.deleteIfExists(options.knownHosts(name));
  }

  private static int end(String name, Ec2Options options, ClusterGoal goal)
      throws IOException, InterruptedException {
    Ec2File file = options.load();
    RecordFolder<ClusterRecord> folder = options.folder();
    try (SdkEc2 service = options.service(file);
        FileChannel _ = folder.lock(name)) {
      ClusterRecord known = known(name, options);
      if (options.dryRun) {
        return preview(options, new ClusterPlan(file), goal, known, service);
      }
      ClusterDriver driver =
          new ClusterDriver(service, file, known, folder::write, options.surroundings());
      ObservedCluster reached = driver.reach(goal, Duration.ofMinutes(15));
      for (ClusterPart each : reached.attachedElsewhere()) {
        options.say(
            "%s is attached to %s, which is not of this cluster, and stays"
                .formatted(each.words(), each.attachedTo()));
      }
      options.answer(
          goal instanceof ClusterGoal.Deleted
              ? "no instance and no detached part is left of cluster " + name
              : "%d instances of cluster %s are stopped".formatted(reached.live().size(), name),
          ClusterReport.description(name, file, reached));
      return ExitCode.OK.code();
    }
  }

  private static ClusterRecord known(String name, Ec2Options options) throws IOException {
    checkName(name, options);
    return options
        .folder()
        .read(name)
        .orElseThrow(
            () ->
                options.bad(
                    "no cluster %s is known here; troupe ec2 orphans lists what this machine does"
                            .formatted(name)
                        + " not know"));
  }

  static void checkName(String name, Ec2Options options) {
    if (!name.matches("[a-z][a-z0-9-]{0,30}")) {
      throw options.bad(
          "a cluster's name has at most 31 of a-z, 0-9 and -, and begins with a letter, not '%s'"
              .formatted(name));
    }
  }
}
