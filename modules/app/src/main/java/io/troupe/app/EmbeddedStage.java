package io.troupe.app;

import akka.actor.typed.ActorSystem;
import akka.actor.typed.Behavior;
import com.typesafe.config.ConfigFactory;
import io.troupe.app.config.ConsoleSection;
import io.troupe.app.console.RunConsole;
import io.troupe.cluster.ranks.RankHall;
import io.troupe.console.NodeFacts;
import io.troupe.runtime.Run;
import io.troupe.runtime.WeightOutlet;
import io.troupe.runtime.WeightSource;
import io.troupe.runtime.WeightsInMemory;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;

/** A run in one JVM, whose actors no other process can reach. */
final class EmbeddedStage implements Stage {
  private final ConsoleSection console;
  private final WeightsInMemory weights = new WeightsInMemory();
  private final CompletableFuture<ActorSystem<Run.Command>> started = new CompletableFuture<>();

  /**
   * A stage.
   *
   * @param console whether anybody can look, and so whether actors are measured
   */
  EmbeddedStage(ConsoleSection console) {
    this.console = console;
  }

  @Override
  public boolean enter() {
    return true;
  }

  @Override
  public boolean inherits() {
    return false;
  }

  @Override
  public WeightOutlet outlet() {
    return weights;
  }

  @Override
  public WeightSource source() {
    return weights;
  }

  @Override
  public Optional<WeightsInMemory> inMemory() {
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
  public void open(Run.Posts posts) {
    // Nobody comes from outside.
  }

  @Override
  public List<String> gpus() {
    return TrainerCrews.devices();
  }

  @Override
  public Optional<RankHall> hall() {
    return Optional.empty();
  }

  @Override
  public void start(Behavior<Run.Command> run, Consumer<String> notes) {
    ActorSystem<Run.Command> system =
        ActorSystem.create(
            run,
            "troupe",
            ConfigFactory.load(
                RunConsole.meter(console, ConfigFactory.parseResources("troupe.conf"))));
    started.complete(system);
  }

  @Override
  public CompletionStage<ActorSystem<Run.Command>> system() {
    return started;
  }

  @Override
  public List<NodeFacts> nodes() {
    return List.of();
  }

  @Override
  public List<String> again() {
    return List.of();
  }

  @Override
  public CompletionStage<?> terminated() {
    return started.thenCompose(ActorSystem::getWhenTerminated);
  }
}
