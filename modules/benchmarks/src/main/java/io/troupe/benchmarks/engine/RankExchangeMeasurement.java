package io.troupe.benchmarks.engine;

import io.troupe.base.net.HostPort;
import io.troupe.benchmarks.harness.PairedMeasurement;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.djl.DjlPolicy;
import io.troupe.engine.djl.torch.Precision;
import io.troupe.engine.parallel.TrainerRank;
import io.troupe.engine.train.OptimizerSettings;
import io.troupe.engine.train.StepOutcome;
import io.troupe.engine.train.TrainingEngine;
import io.troupe.net.link.ConnectionFactory;
import io.troupe.net.secret.RunSecret;
import io.troupe.ranks.RankRegistry;
import io.troupe.ranks.RankTraffic;
import io.troupe.ranks.RankWorker;
import io.troupe.ranks.RemoteRanks;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * The traffic of a step of two ranks: bytes over the coordinator's link, bytes that a rank sends to
 * the next one, and the time of copies of its state; and the traffic of a version over the
 * coordinator's link. The ranks are threads of this process that reach each other and the
 * coordinator by sockets on loopback, as processes do, and share no folder with it, as on other
 * hosts.
 *
 * <p>More than 1 MB a step over the coordinator's link fails the measurement.
 */
final class RankExchangeMeasurement implements PyTorchComparison {
  private static final int RANKS = 2;
  private static final Duration LONG = Duration.ofMinutes(10);
  private static final double LINK_BAR = 1e6;
  private static final String LOOPBACK = "127.0.0.1";

  /** A usual rate of a policy that is trained on. */
  private static final double LEARNING_RATE = 1e-6;

  private static final OptimizerSettings ADAM =
      new OptimizerSettings(
          LEARNING_RATE,
          TrainCase.OPTIMISATION.beta1(),
          TrainCase.OPTIMISATION.beta2(),
          TrainCase.OPTIMISATION.epsilon(),
          TrainCase.OPTIMISATION.weightDecay(),
          TrainCase.OPTIMISATION.gradientClip());

  /** The traffic of a step and of the version after it, and the duration of the step. */
  private record StepTraffic(
      double link,
      double exchanged,
      double copied,
      double copying,
      double seconds,
      double published) {}

  /** The first version over the coordinator's link, and steps after it. */
  private record Traffic(double first, List<StepTraffic> steps) {}

  @Override
  public List<PairedMeasurement> run(Setting setting) throws IOException {
    List<PairedMeasurement> rows = new ArrayList<>();
    for (TrainCase given : TrainCase.values()) {
      for (Precision precision : Precision.values()) {
        String name = "%s, %s".formatted(given.label(), precision.name().toLowerCase(Locale.ROOT));
        System.err.println("ranks, " + name);
        rows.addAll(rows(name, given, precision, setting));
      }
    }
    return rows;
  }

  private static List<PairedMeasurement> rows(
      String name, TrainCase given, Precision precision, Setting setting) throws IOException {
    DjlPolicy plain = given.policy(setting.threads(), precision);
    double parameters;
    Traffic traffic;
    try (TrainingEngine alone = plain.newTrainer(TrainCase.SEED)) {
      parameters =
          alone.snapshot(WeightVersion.BASE).tensors().stream()
              .mapToDouble(tensor -> (double) tensor.data().byteSize() / Float.BYTES)
              .sum();
    }
    Path scratch = setting.scratch().resolve("ranks-%s-%s".formatted(given, precision));
    traffic = traffic(given, plain, setting.rounds(), scratch);
    List<StepTraffic> steps = traffic.steps;
    List<Double> link = steps.stream().map(StepTraffic::link).toList();
    for (double bytes : link) {
      if (bytes > LINK_BAR) {
        throw new IOException(
            "%s: %,.0f bytes passed the coordinator's link in a step, and at most %,.0f may"
                .formatted(name, bytes, LINK_BAR));
      }
    }
    return List.of(
        row("coordinator's link a step, " + name, "kB", link.stream().map(b -> b / 1e3).toList()),
        row(
            "gradients and weights, " + name,
            "bytes a parameter",
            steps.stream().map(step -> step.exchanged / parameters).toList()),
        row(
            "copies of state, " + name,
            "bytes a parameter",
            steps.stream().map(step -> step.copied / parameters).toList()),
        row(
            "copies of state, " + name,
            "ms",
            steps.stream().map(step -> step.copying * 1e3).toList()),
        row(
            "first version over the coordinator's link, " + name,
            "bytes a parameter",
            List.of(traffic.first / parameters)),
        row(
            "each later version over the coordinator's link, " + name,
            "bytes a parameter",
            steps.stream().map(step -> step.published / parameters).toList()),
        row("whole step, " + name, "ms", steps.stream().map(step -> step.seconds * 1e3).toList()));
  }

  private static PairedMeasurement row(String name, String unit, List<Double> values) {
    return new PairedMeasurement(name, unit, values, List.of(), Double.NaN, false);
  }

  private static Traffic traffic(TrainCase given, DjlPolicy plain, int rounds, Path scratch)
      throws IOException {
    RunSecret secret = RunSecret.random();
    List<RemoteRanks> crews = new ArrayList<>();
    List<RankWorker> workers = new ArrayList<>();
    List<StepTraffic> steps = new ArrayList<>();
    try (RankRegistry registry =
            RankRegistry.open(
                RANKS, ConnectionFactory.onLoopback(), new HostPort(LOOPBACK, 0), secret);
        TrainingEngine trainer =
            plain.by(() -> crew(registry, scratch, crews)).newTrainer(TrainCase.SEED)) {
      for (int rank = 0; rank < RANKS; rank++) {
        registry.joined("node" + rank);
        workers.add(start(rank, registry.address(), secret, plain.newRank(RANKS), scratch));
      }
      step(trainer, given); // the first one begins
      double first = published(trainer, crews.getFirst());
      for (int round = 0; round < rounds; round++) {
        long linkBefore = crews.getFirst().linkBytes();
        RankTraffic before = workers.getFirst().traffic();
        long start = System.nanoTime();
        step(trainer, given);
        double seconds = (System.nanoTime() - start) / 1e9;
        RankTraffic after = workers.getFirst().traffic();
        double link = (double) crews.getFirst().linkBytes() - linkBefore;
        double copied = (double) after.copied() - before.copied();
        steps.add(
            new StepTraffic(
                link,
                after.sent() - before.sent() - copied,
                copied,
                after.copying().minus(before.copying()).toNanos() / 1e9,
                seconds,
                published(trainer, crews.getFirst())));
      }
      return new Traffic(first, steps);
    } finally {
      for (RankWorker worker : workers) {
        worker.disconnect();
      }
    }
  }

  /** Returns the bytes that a version moves over the coordinator's link. */
  private static double published(TrainingEngine trainer, RemoteRanks crew) {
    long before = crew.linkBytes();
    trainer.snapshot(WeightVersion.BASE);
    return (double) crew.linkBytes() - before;
  }

  private static RemoteRanks crew(RankRegistry registry, Path scratch, List<RemoteRanks> crews) {
    RemoteRanks crew =
        new RemoteRanks(
            registry,
            new RemoteRanks.Patience(LONG, LONG, LONG),
            scratch.resolve("states"),
            System.err::println);
    crews.add(crew);
    return crew;
  }

  private static RankWorker start(
      int number, HostPort coordinator, RunSecret secret, TrainerRank rank, Path scratch)
      throws IOException {
    RankWorker worker =
        RankWorker.report(
                coordinator,
                new RankWorker.RankIdentity(
                    number,
                    "node" + number,
                    "rank" + number,
                    ConnectionFactory.onLoopback(),
                    LOOPBACK,
                    secret,
                    LONG,
                    0,
                    scratch.resolve("rank" + number)),
                rank,
                true)
            .onAnotherHost();
    Thread.ofPlatform()
        .daemon()
        .name("bench-rank-" + number)
        .start(
            () -> {
              try (rank;
                  worker) {
                worker.work();
              } catch (IOException over) {
                System.err.println("a rank ends: " + over.getMessage());
              }
            });
    return worker;
  }

  private static void step(TrainingEngine trainer, TrainCase given) throws IOException {
    switch (trainer.train(given.batch(), TrainCase.LOSS, ADAM)) {
      case StepOutcome.Stepped _ -> {}
      case StepOutcome.Skipped(var reason) -> throw new IOException("skipped: " + reason);
    }
  }
}
