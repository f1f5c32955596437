package io.troupe.run.session;

import akka.actor.typed.ActorSystem;
import akka.actor.typed.Behavior;
import com.typesafe.config.ConfigFactory;
import io.troupe.config.ConsoleSection;
import io.troupe.console.source.NodeFacts;
import io.troupe.core.run.RunEnd;
import io.troupe.ranks.RankRegistry;
import io.troupe.run.compose.TrainerRankGroups;
import io.troupe.run.console.RunConsole;
import io.troupe.run.console.StartedRun;
import io.troupe.runtime.Run;
import io.troupe.runtime.weights.InMemoryWeights;
import io.troupe.runtime.weights.WeightPublisher;
import io.troupe.runtime.weights.WeightSource;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;

/** A run in one JVM, whose actors no other process can reach. */
public final class LocalRunEnvironment implements RunEnvironment {
  private final ConsoleSection console;
  private final InMemoryWeights weights = new InMemoryWeights();
  private final CompletableFuture<ActorSystem<Run.Command>> system = new CompletableFuture<>();
  private final CompletableFuture<Run.RunActors> actors = new CompletableFuture<>();

  /**
   * Creates the environment of a run in this JVM.
   *
   * @param console whether it shows the run, so that actors are measured
   */
  public LocalRunEnvironment(ConsoleSection console) {
    this.console = console;
  }

  @Override
  public boolean enter() {
    return true;
  }

  @Override
  public boolean takesOver() {
    return false;
  }

  @Override
  public WeightPublisher outlet() {
    return weights;
  }

  @Override
  public WeightSource source() {
    return weights;
  }

  @Override
  public Optional<InMemoryWeights> inMemory() {
    return Optional.of(weights);
  }

  @Override
  public int workers(int configured) {
    return configured;
  }

  @Override
  public int sidecars(int configured) {
    return configured;
  }

  @Override
  public void actorsStarted(Run.RunActors started) {
    actors.complete(started);
  }

  @Override
  public List<String> gpus() {
    return TrainerRankGroups.visibleDevices();
  }

  @Override
  public String gpuOption() {
    return "auto";
  }

  @Override
  public Optional<RankRegistry> ranks() {
    return Optional.empty();
  }

  @Override
  public void start(Behavior<Run.Command> run, Consumer<String> notes) {
    system.complete(
        ActorSystem.create(
            run,
            "troupe",
            ConfigFactory.load(
                RunConsole.meter(console, ConfigFactory.parseResources("troupe.conf")))));
  }

  @Override
  public void ended(RunEnd end) {}

  @Override
  public CompletionStage<StartedRun> started() {
    return system.thenCombine(actors, (all, run) -> new StartedRun(all, run.coordinator()));
  }

  @Override
  public List<NodeFacts> nodes() {
    return List.of();
  }

  @Override
  public List<String> resumeArguments() {
    return List.of();
  }

  @Override
  public CompletionStage<?> terminated() {
    return system.thenCompose(ActorSystem::getWhenTerminated);
  }
}
