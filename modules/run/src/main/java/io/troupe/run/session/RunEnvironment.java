package io.troupe.run.session;

import akka.actor.typed.Behavior;
import io.troupe.cluster.ClusterJoin.ClusterJoinException;
import io.troupe.console.source.ClusterFacts;
import io.troupe.core.run.RunEnd;
import io.troupe.ranks.RankRegistry;
import io.troupe.run.console.StartedRun;
import io.troupe.runtime.Run;
import io.troupe.runtime.weights.InMemoryWeights;
import io.troupe.runtime.weights.WeightPublisher;
import io.troupe.runtime.weights.WeightSource;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;

/** The place of a run's actors: this JVM alone, or the coordinator of a cluster. */
public interface RunEnvironment extends ClusterFacts {
  /**
   * Waits until this process may work on the run.
   *
   * @return false when the process is to end instead
   */
  boolean enter() throws IOException, ClusterJoinException, InterruptedException;

  /** Whether this process only continues a run that another process began and did not end. */
  boolean takesOver();

  /** Returns the publisher into which the coordinator puts new weights. */
  WeightPublisher outlet();

  /** Returns the source from which workers of this JVM take new weights. */
  WeightSource source();

  /** The newest weights themselves, where engines of this JVM can sample with them. */
  Optional<InMemoryWeights> inMemory();

  /** Returns the number of workers of this JVM, of those the configuration asks for. */
  int workers(int configured);

  /**
   * Returns the number of inference servers that this JVM starts, of those the configuration asks
   * for.
   */
  int sidecars(int configured);

  /** Takes the actors of the run: operators and, on a cluster, other JVMs send to them. */
  void actorsStarted(Run.RunActors actors);

  /**
   * Accelerators that the coordinator and its ranks have, as CUDA_VISIBLE_DEVICES lists them; none
   * if that is not known.
   */
  List<String> gpus();

  /**
   * Returns the GPUs of this host on which the run is placed: {@code --gpus} of the command, or
   * auto.
   */
  String gpuOption();

  /** Returns the registry to which trainer ranks of other hosts report, if nodes start any. */
  Optional<RankRegistry> ranks();

  /** Starts the run. */
  void start(Behavior<Run.Command> run, Consumer<String> notes);

  /** Takes how the run has ended; called before its actors are gone. */
  void ended(RunEnd end);

  /** The run, once its actors have started. */
  CompletionStage<StartedRun> started();

  /** Options of {@code troupe train --resume} by which the run comes to where it was. */
  List<String> resumeArguments();

  /** Completes when the actors are gone. */
  CompletionStage<?> terminated();
}
