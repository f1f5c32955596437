package io.troupe.cli;

import io.troupe.aws.interruption.InterruptionWatch;
import io.troupe.base.build.BuildId;
import io.troupe.base.build.BuildInfo;
import io.troupe.base.process.ParentWatch;
import io.troupe.base.process.Signals;
import io.troupe.cli.command.CliCommand;
import io.troupe.cli.command.InterruptionOption;
import io.troupe.cli.command.OverrideOption;
import io.troupe.cli.copy.CopiedRun;
import io.troupe.cli.copy.CopyOptions;
import io.troupe.cli.node.ClusterOptions;
import io.troupe.cluster.ClusterJoin.ClusterJoinException;
import io.troupe.cluster.ClusterSettings;
import io.troupe.cluster.NodeTable;
import io.troupe.cluster.RunDescriptor;
import io.troupe.cluster.membership.ClusterIdentity;
import io.troupe.config.PlacementSection;
import io.troupe.config.RunConfig;
import io.troupe.config.binding.ResolvedConfig;
import io.troupe.run.cluster.ClusterRunEnvironment;
import io.troupe.run.cluster.CoordinatorRanks;
import io.troupe.run.cluster.CoordinatorWeights;
import io.troupe.run.cluster.RunToken;
import io.troupe.run.compose.Composition;
import io.troupe.run.compose.InputDigests;
import io.troupe.run.compose.UnsupportedPolicyException;
import io.troupe.run.console.RunConsole;
import io.troupe.run.evaluation.CheckpointWatcher;
import io.troupe.run.session.LocalRunEnvironment;
import io.troupe.run.session.RunCopy;
import io.troupe.run.session.RunEnvironment;
import io.troupe.run.session.TrainSession;
import io.troupe.run.simulation.ModelFile;
import io.troupe.run.task.InvalidVerifierException;
import io.troupe.store.folder.Provenance;
import io.troupe.store.folder.RunFolder;
import io.troupe.store.folder.RunLease;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneId;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code troupe train}: trains a policy, or continues a run. */
@Command(
    name = "train",
    description = "Trains a policy by asynchronous GRPO, or continues a run.",
    footer = {
      "",
      "Examples:",
      "  troupe train conf/quickstart.yaml",
      "  troupe train conf/quickstart.yaml --set run.seed=2 --set training.steps=20",
      "  troupe train conf/qwen3-1.7b-8gpu.yaml --gpus 0-7",
      "  troupe train --resume runs/quickstart-20261121-140200",
      "  troupe train --resume s3://bucket/runs/quickstart-20261121-140200",
      "",
      "^C or SIGTERM saves everything and prints how to resume; a second one stops at once."
    })
final class TrainCommand extends CliCommand {
  @Parameters(
      index = "0",
      arity = "0..1",
      paramLabel = "FILE",
      description = "Configuration of a new run.")
  private @Nullable Path file;

  @Option(
      names = "--resume",
      paramLabel = "RUN",
      description =
          "Folder or name of the run to continue, from its last checkpoint; or s3://bucket/prefix/RUN,"
              + " the copy of one, which is downloaded first.")
  private @Nullable String resume;

  @Option(
      names = "--continue",
      description =
          "With FILE: continue the newest run of FILE, or begin one. A complete run ends at once,"
              + " with exit code 0: for services that start the same command again.")
  private boolean continued;

  @Mixin private OverrideOption overrides = new OverrideOption();

  @Option(names = "--json", description = "One JSON object a step on standard output.")
  private boolean json;

  @Option(
      names = "--cluster",
      description =
          "Work as the coordinator of a cluster, whose nodes sample: see troupe node. Implied by"
              + " --seed.")
  private boolean clustered;

  @Option(
      names = "--gpus",
      paramLabel = "LIST|virtual:N",
      description =
          "GPUs of this host, such as 0-7 or 0,2,3, over which the run is placed as `troupe plan`"
              + " with the same option draws it: sets placement.nodes to 1 and"
              + " placement.gpus_per_node, and starts a node agent here. virtual:N runs N places"
              + " without GPUs.")
  private @Nullable String gpus;

  @Option(
      names = "--standby",
      hidden = true,
      description = "With --resume and --seed: wait until the present coordinator is gone.")
  private boolean standby;

  @Mixin private CopyOptions s3 = new CopyOptions();

  @Mixin private InterruptionOption interruptions = new InterruptionOption();

  @Mixin private ClusterOptions cluster = new ClusterOptions();

  @Override
  public Integer call() throws Exception {
    if (gpus != null) {
      overrides.putFirst(HostGpus.overrides(gpus));
    }
    if ((file == null) == (resume == null)) {
      throw refused("give either a configuration FILE or --resume RUN");
    }
    if (resume != null) {
      if (continued) {
        throw refused("--continue goes with a configuration FILE, not with --resume");
      }
      return resumeRun(CopiedRun.local(resume, Path.of("runs"), s3, System.err::println));
    }
    Path source = Objects.requireNonNull(file);
    Optional<Path> newest = continued ? newestOf(source) : Optional.empty();
    return newest.isPresent() ? resumeRun(newest.get().toString()) : startNew(source);
  }

  /** The newest run of a configuration, which must not have changed since it began. */
  private Optional<Path> newestOf(Path source) throws IOException, RunNotFoundException {
    Path root = RunConfig.load(source, overrides.values()).config().run().folder();
    Optional<String> name = RunFolder.newestOf(root, stem(source));
    if (name.isEmpty()) {
      return Optional.empty();
    }
    Path run = root.resolve(name.get());
    if (!Arrays.equals(
        Files.readAllBytes(find(run.toString()).config()), Files.readAllBytes(source))) {
      throw refused(
          "%s has changed since %s began; continue the run by --resume %s, or begin a new one without --continue"
              .formatted(source, run, run));
    }
    return Optional.of(run);
  }

  private int startNew(Path source)
      throws IOException, InterruptedException, InvalidVerifierException, ClusterJoinException {
    OffsetDateTime now = OffsetDateTime.now(ZoneId.systemDefault());
    ResolvedConfig<RunConfig> resolved =
        datedAt(now, RunConfig.load(source, overrides.values()), source);
    Composition composition = checked(Composition.of(resolved.config()), resolved);
    RunConfig config = resolved.config();
    RunCopy.check(resolved, config.run().sync());
    Provenance provenance =
        Provenance.collect(
            BuildInfo.version(),
            now.toInstant(),
            BuildInfo.home(),
            commandLine().getParseResult().originalArgs(),
            Map.of("run", config.run().seed()));
    RunFolder folder =
        RunFolder.create(
            config.run().folder(),
            stem(source),
            now.toLocalDateTime(),
            new RunFolder.Contents(
                Files.readAllBytes(source),
                resolved.yaml(),
                provenance.toMap(),
                provenance.gitDiff(),
                provenance.gitStatus()));
    if (Files.isRegularFile(ModelFile.beside(source))) {
      Files.copy(ModelFile.beside(source), folder.model()); // what its console compares it with
    }
    return session(composition, folder, false, Optional.empty());
  }

  /** The configuration with the run's date: its start, where it names none. */
  private ResolvedConfig<RunConfig> datedAt(
      OffsetDateTime now, ResolvedConfig<RunConfig> resolved, Path source) {
    if (!resolved.config().run().date().isEmpty()) {
      return resolved;
    }
    List<String> dated = new ArrayList<>(overrides.values());
    dated.add("run.date=" + now.truncatedTo(ChronoUnit.SECONDS));
    return RunConfig.load(source, dated);
  }

  private int resumeRun(String run)
      throws IOException,
          InterruptedException,
          RunNotFoundException,
          InvalidVerifierException,
          ClusterJoinException {
    RunFolder folder = find(run);
    if (folder.isSupervised()) {
      throw refused("%s is a supervised run; continue it by `troupe sft --resume`".formatted(run));
    }
    ResolvedConfig<RunConfig> resolved = RunConfig.load(folder.resolved(), overrides.values());
    resolved
        .changesSince(RunConfig.load(folder.resolved(), List.of()))
        .forEach(change -> err().println("change " + change));
    err().flush();
    Composition composition =
        checked(Composition.of(resolved.config(), folder.checkpoints()), resolved);
    Optional<String> changed =
        overrides.values().isEmpty() ? Optional.empty() : Optional.of(resolved.yaml());
    return session(composition, folder, true, changed);
  }

  /**
   * Works on a run until it ends.
   *
   * @param again whether the run was worked on before, so that nodes may be at work for it
   * @param changed the resolved configuration, where this session changes it
   */
  private int session(
      Composition composition, RunFolder folder, boolean again, Optional<String> changed)
      throws IOException, InterruptedException, InvalidVerifierException, ClusterJoinException {
    Consumer<String> say = System.err::println;
    try (HostGpus host = HostGpus.of(gpus, folder.path(), say);
        InterruptionWatch _ =
            interruptions.watch(
                say,
                notice -> {
                  say.accept(notice.text(Instant.now()));
                  Signals.raise(Signals.SIGTERM);
                })) {
      return new TrainSession(
              composition,
              environment(composition, folder, !again, changed, host),
              folder,
              again,
              changed,
              System.out,
              System.err,
              json)
          .run();
    }
  }

  /**
   * Chooses the processes and hosts in which the run takes place.
   *
   * @param begins whether it begins, so that no node is at work for it yet
   * @param changed the resolved configuration, where it is not yet in the folder
   * @param host GPUs that the command names, if it names some
   */
  private RunEnvironment environment(
      Composition composition,
      RunFolder folder,
      boolean begins,
      Optional<String> changed,
      HostGpus host)
      throws IOException {
    if (!inCluster()) {
      return new LocalRunEnvironment(composition.config().console());
    }
    ClusterSettings settings =
        cluster.settings(
            ClusterSettings.ClusterRole.COORDINATOR,
            composition.frameBytes(),
            composition.config().cluster().tls(),
            System.err::println);
    CoordinatorWeights weights =
        new CoordinatorWeights(folder, composition.config(), cluster.weights());
    PlacementSection placement = composition.config().placement();
    ClusterRunEnvironment environment =
        new ClusterRunEnvironment(
            new ClusterRunEnvironment.ClusterMembership(
                settings,
                own -> RunConsole.meter(composition.config().console(), own),
                new ClusterIdentity(composition.config().cluster().name(), BuildId.ofThisProcess()),
                cluster.seeds(),
                cluster.forCoordinator()),
            new RunDescriptor(
                folder.name(),
                folder.path().toAbsolutePath().normalize().toString(),
                RunToken.of(folder),
                changed.isPresent() ? changed.get() : Files.readString(folder.resolved()),
                RunToken.secret(folder),
                weights.transfers(),
                InputDigests.of(composition),
                ""),
            new ClusterRunEnvironment.CoordinatorParts(
                new RunLease(folder, cluster.address().host()),
                weights,
                new CoordinatorRanks(folder, placement, cluster.ranks()),
                new NodeTable(
                    settings.address().host(),
                    placement.placement(),
                    placement.ranksOnNodes(),
                    begins),
                () -> host.claim(composition.config(), folder, standby)),
            standby,
            !composition.config().rollout().endpoints().urls().isEmpty(),
            System.err::println);
    if (standby) {
      ParentWatch.start(environment::leaveUnlessLeading);
    }
    if (gpus != null) {
      environment.placedOn(gpus);
    }
    return environment.onceEntered(self -> host.start(cluster.forChild(self)));
  }

  private static RunFolder find(String run) throws RunNotFoundException {
    try {
      return RunFolder.open(Path.of("runs"), run);
    } catch (IOException absent) {
      throw new RunNotFoundException(absent);
    }
  }

  private boolean inCluster() {
    return clustered || gpus != null || !cluster.seeds().isEmpty();
  }

  private Composition checked(Composition composition, ResolvedConfig<RunConfig> resolved)
      throws InvalidVerifierException, UnsupportedPolicyException {
    resolved.check(
        (config, rules) -> {
          config.checkStart(inCluster(), rules);
          rules
              .on("placement.evaluation_gpus")
              .require(
                  () ->
                      config.placement().evaluationGpus() == 0
                          || !inCluster()
                          || gpus != null
                          || standby,
                  "must be 0 in a run with --cluster: the run starts the watcher beside itself",
                  PlacementSection.BY_HAND);
          config.check(composition.facts(), rules);
        });
    if (inCluster()) {
      composition.fittingGpus(resolved);
    } else {
      composition.fittingPlan(resolved);
    }
    CheckpointWatcher.check(composition.config());
    HostGpus.check(gpus, composition);
    composition.checkVerifiers();
    return composition;
  }

  private static String stem(Path source) {
    String name = String.valueOf(source.getFileName());
    int dot = name.lastIndexOf('.');
    return dot > 0 ? name.substring(0, dot) : name;
  }
}
