package io.troupe.app;

import akka.actor.typed.ActorSystem;
import akka.actor.typed.Behavior;
import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import io.troupe.cluster.Joining;
import io.troupe.runtime.Run;
import io.troupe.runtime.WeightOutlet;
import io.troupe.runtime.WeightSource;
import io.troupe.runtime.WeightsInMemory;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

/** A run in one JVM: a cluster of one, on the loopback interface. */
final class EmbeddedStage implements Stage {
  private final WeightsInMemory weights = new WeightsInMemory();
  private final CompletableFuture<ActorSystem<Run.Command>> started = new CompletableFuture<>();

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
  public int workers(int configured) {
    return configured;
  }

  @Override
  public void open(Run.Posts posts) {
    // Nobody comes from outside.
  }

  @Override
  public void start(
      Behavior<Run.Command> run, Consumer<String> notes, UnaryOperator<Config> measured) {
    ActorSystem<Run.Command> system =
        ActorSystem.create(
            run,
            "troupe",
            ConfigFactory.load(measured.apply(ConfigFactory.parseResources("troupe.conf"))));
    Joining.first(system);
    started.complete(system);
  }

  @Override
  public CompletionStage<ActorSystem<Run.Command>> system() {
    return started;
  }

  @Override
  public CompletionStage<?> terminated() {
    return started.thenCompose(ActorSystem::getWhenTerminated);
  }
}
